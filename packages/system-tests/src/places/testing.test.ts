// testing-page.test.ts is the code of docs/places/testing.md; here is what the page says besides.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, jest, test } from '@jest/globals'
import { withGlobal } from '@sinonjs/fake-timers'
import { manualClock, reset } from '@sluice/core/testing'
import { createLimiter, redisStore } from '@sluice/express'
import { type RedisServer, startRedis } from '@sluice/test-harness/redis'
import { Redis } from 'ioredis'
import RedisMock from 'ioredis-mock'
import { programOf } from './page.ts'

const ONCE = { limit: 1, window: '1h' } as const
const HOUR = 3_600_000

let server: RedisServer
let client: Redis
beforeAll(async () => {
  server = await startRedis()
  client = new Redis(server.port, server.host)
})
afterEach(async () => {
  jest.useRealTimers()
  await client.flushall()
  reset()
})
afterAll(async () => {
  client.disconnect()
  await server.stop()
})

test('the page shows the code that is tested beside this', () => {
  const tested = readFileSync(join(__dirname, 'testing-page.test.ts'), 'utf8')
  expect(programOf('testing')).toBe(tested)
})

test('fake timers do not move the clock of Redis, a clock of its own does', async () => {
  jest.useFakeTimers()
  const limiter = createLimiter({ ...ONCE, store: client })
  await limiter.consume('ada')
  jest.advanceTimersByTime(2 * HOUR)
  reset()
  expect(await limiter.consume('ada')).toMatchObject({ allowed: false, source: 'store' })

  const clock = manualClock()
  const moved = createLimiter({ ...ONCE, store: redisStore(client, { clock }), prefix: 'moved' })
  await moved.consume('ada')
  clock.advance((await moved.consume('ada')).retryAfterMs)
  expect((await moved.consume('ada')).allowed).toBe(true)
})

test('a refusal is remembered after FLUSHALL, until reset()', async () => {
  const limiter = createLimiter({ ...ONCE, store: client, prefix: 'remembered' })
  await limiter.consume('ada')
  await limiter.consume('ada')
  await client.flushall()
  expect(await limiter.consume('ada')).toMatchObject({ allowed: false, source: 'cache' })
  reset()
  expect(await limiter.consume('ada')).toMatchObject({ allowed: true, source: 'store' })
})

test('ioredis-mock is refused, with what to use instead', () => {
  const store = new RedisMock() as unknown as Redis
  expect(() => createLimiter({ ...ONCE, store })).toThrow(
    /memoryStore\(\).*ioredis-mock lacks? struct/,
  )
})

test('the fake timers of Vitest move a limiter in memory', () => {
  // Its defaults: everything but nextTick and queueMicrotask.
  const timers = withGlobal(globalThis)
  const names = Object.keys(timers.timers) as (keyof typeof timers.timers)[]
  const toFake = names.filter((name) => name !== 'nextTick' && name !== 'queueMicrotask')
  const fake = timers.install({ toFake: toFake as never })
  try {
    const limiter = createLimiter(ONCE)
    limiter.consume('ada')
    const { retryAfterMs } = limiter.consume('ada')
    fake.tick(retryAfterMs - 1)
    expect(limiter.consume('ada').allowed).toBe(false)
    fake.tick(1)
    expect(limiter.consume('ada').allowed).toBe(true)
  } finally {
    fake.uninstall()
  }
})
