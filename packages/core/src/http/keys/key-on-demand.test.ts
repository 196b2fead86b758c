import type { IncomingMessage } from 'node:http'
import { expect, jest, test } from '@jest/globals'
import { plain } from '../../testing/plain-server.ts'
import { HttpLimiter } from '../http-limiter.ts'
import { left } from '../verdict.ts'
import { KeyOnDemand } from './key-on-demand.ts'

test('a key is read when somebody asks, and once', () => {
  const reader = jest.fn(() => 'user:1')
  const key = new KeyOnDemand(reader, 'request')
  expect(key.known).toBeUndefined()
  expect([key.read(), key.read(), key.known]).toEqual(['user:1', 'user:1', 'user:1'])
  expect(reader.mock.calls).toEqual([['request']])
})

test('a key that fails harms nobody who does not await it', async () => {
  const key = new KeyOnDemand(() => Promise.reject(new Error('no session')), 'request')
  void key.read()
  // Jest fails a test with an unhandled rejection.
  await new Promise(setImmediate)
  await expect(key.read()).rejects.toThrow('no session')
})

test.each([
  ['synchronous', (key: () => unknown) => key() === 'user:1'],
  ['asynchronous', async (key: () => unknown) => (await key()) === 'user:1'],
])('a client that has gone has no key for skip, and is not charged: %s', async (_, asks) => {
  const gone = { method: 'GET', headers: {}, socket: { destroyed: true } }
  const httpLimiter = new HttpLimiter<IncomingMessage, never>(
    { limit: 1, window: '1h', skip: (_, key) => asks(key) },
    { ...plain, address: () => undefined } as never,
  )
  expect(await httpLimiter.check(gone as never)).toBe(left)
  expect(httpLimiter.limiter.peek('unknown')).toMatchObject({ remaining: 1 })
})
