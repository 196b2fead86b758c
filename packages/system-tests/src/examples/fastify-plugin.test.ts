import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { isOpenToOthers, type Program, startExample } from '@sluice/test-harness/examples'
import { until } from '@sluice/test-harness/redis'
import request from 'supertest'
import { folderOf } from './folder-of.ts'

const folder = folderOf('fastify-plugin')

let example: Program

beforeAll(async () => {
  example = await startExample(folder, {}, 'stopped')
})

afterAll(async () => {
  await example?.stop()
})

async function statuses(
  count: number,
  path: string,
  method: 'get' | 'post' = 'get',
): Promise<number[]> {
  const found: number[] = []
  for (let i = 0; i < count; i += 1) found.push((await request(example.url)[method](path)).status)
  return found
}

test('it prints what to try', async () => {
  await until(() => example.output().includes('Stop with'), {
    what: 'all is printed',
  })
  for (const path of ['/login', '/search', '/export', '/health', '/nowhere']) {
    expect(example.output()).toContain(`${example.url}${path}`)
  }
})

test('each route is limited as it says', async () => {
  expect(await statuses(4, '/login', 'post')).toEqual([200, 200, 200, 429])
  expect(await statuses(3, '/export')).toEqual([200, 200, 429])
  expect(await statuses(3, '/search')).toEqual([200, 200, 429])
  expect(await statuses(1, '/')).toEqual([429])
  expect(await statuses(1, '/nowhere')).toEqual([429])
  expect(await statuses(12, '/health')).toEqual(Array(12).fill(200))
})

test('a refusal says how long to wait', async () => {
  const response = await request(example.url).post('/login')
  expect(response.headers['ratelimit-policy']).toBe('"default";q=3;w=60')
  expect(Number(response.headers['retry-after'])).toBeGreaterThan(0)
  expect(response.body).toMatchObject({ title: 'Quota Exceeded', status: 429 })
})

test('it listens on loopback', async () => {
  expect(await isOpenToOthers(example.url)).toBe(false)
})
