import { afterAll, beforeAll, expect, test } from '@jest/globals'
import {
  awayFromEdge,
  type Example,
  isOpenToOthers,
  startExample,
} from '@sluice/test-harness/examples'
import { until } from '@sluice/test-harness/redis'

let example: Example

beforeAll(async () => {
  example = await startExample(__dirname)
})

afterAll(async () => {
  await example?.stop()
})

async function statuses(count: number, path: string, method = 'GET'): Promise<number[]> {
  const found: number[] = []
  for (let i = 0; i < count; i += 1) {
    const response = await fetch(example.url + path, { method })
    await response.arrayBuffer()
    found.push(response.status)
  }
  return found
}

test('it prints what to try', async () => {
  await until(() => example.output().includes('Stop with'), {
    withinMs: 5000,
    what: 'all is printed',
  })
  for (const path of ['/login', '/search', '/export', '/health', '/nowhere']) {
    expect(example.output()).toContain(`${example.url}${path}`)
  }
})

test('each route is limited as it says', async () => {
  await awayFromEdge(10_000, 3000)
  expect(await statuses(4, '/login', 'POST')).toEqual([200, 200, 200, 429])
  expect(await statuses(3, '/export')).toEqual([200, 200, 429])
  await awayFromEdge(1000, 500)
  expect(await statuses(3, '/search')).toEqual([200, 200, 429])
  expect(await statuses(1, '/')).toEqual([429])
  expect(await statuses(1, '/nowhere')).toEqual([429])
  expect(await statuses(12, '/health')).toEqual(Array(12).fill(200))
})

test('a refusal says how long to wait', async () => {
  const response = await fetch(`${example.url}/login`, { method: 'POST' })
  expect(response.headers.get('ratelimit-policy')).toBe('"default";q=3;w=60')
  expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0)
  expect(await response.json()).toMatchObject({ title: 'Quota Exceeded', status: 429 })
})

test('it listens on loopback', async () => {
  expect(await isOpenToOthers(example.url)).toBe(false)
})
