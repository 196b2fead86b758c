import { dirname } from 'node:path'
import { expect, test } from '@jest/globals'
import { redisBinary } from './binary.ts'

test('REDIS_SERVER wins over the PATH', () => {
  const env = { REDIS_SERVER: process.execPath, PATH: process.env.PATH }
  expect(redisBinary(env)).toBe(process.execPath)
})

test('a server is found on the PATH, in a later folder too', () => {
  const binary = redisBinary()
  expect(redisBinary({ PATH: `/nowhere:${dirname(binary)}` })).toContain(dirname(binary))
})

test('no server is an error that says how to get one', () => {
  expect(() => redisBinary({ PATH: '/nowhere' })).toThrow(/install one .* or set REDIS_SERVER/)
})

test('a REDIS_SERVER that is no executable file is an error, not a reason to look elsewhere', () => {
  const env = { REDIS_SERVER: '/nowhere/redis-server', PATH: process.env.PATH }
  expect(() => redisBinary(env)).toThrow('REDIS_SERVER is /nowhere/redis-server')
})
