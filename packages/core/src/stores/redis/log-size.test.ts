// A sliding log in Redis is as long as what is charged in it, and as dear as what a request can get.

import { expect, test } from '@jest/globals'
import { useRedis } from '@sluice/test-harness/jest'
import { patient } from '@sluice/test-harness/redis'
import { createLimiter, redisStore } from '../../index.ts'
import { manualClock } from '../../testing/index.ts'

const ENTRY = 16
const HEAD = 32

const redis = useRedis()

function limiterOf(prefix: string, limit: number) {
  const clock = manualClock()
  const store = redisStore(redis.client, { clock })
  const limiter = createLimiter({
    ...patient,
    store,
    prefix,
    limit,
    window: '1h',
    algorithm: 'sliding-log',
  })
  return {
    limiter,
    clock,
    stateKey: async () => (await redis.client.keys(`${prefix}:{client}:*`))[0] as string,
  }
}

test('requests that are settled to nothing leave no entries', async () => {
  const { limiter, clock, stateKey } = limiterOf('empty', 50)
  const first = await limiter.consume('client')
  for (let i = 0; i < 300; i += 1) {
    clock.advance(1)
    const { at } = await limiter.consume('client')
    clock.advance(1)
    await limiter.consume('client', { cost: 0 })
    await limiter.settle('client', -1, { at })
  }
  expect(await redis.client.strlen(await stateKey())).toBeLessThanOrEqual(HEAD + 2 * ENTRY)
  await limiter.settle('client', -1, { at: first.at })
  expect(await redis.client.keys('empty:{client}:*')).toEqual([])
})

test('entries settled to nothing in the middle of a log are closed up, in any order', async () => {
  const { limiter, clock, stateKey } = limiterOf('middle', 50)
  const charged: number[] = []
  for (let i = 0; i < 40; i += 1) {
    clock.advance(10)
    charged.push((await limiter.consume('client')).at)
  }
  const odd = charged.filter((_, i) => i % 2 === 1)
  for (const at of [...odd.slice(10), ...odd.slice(0, 10)])
    await limiter.settle('client', -1, { at })
  expect((await limiter.peek('client')).remaining).toBe(30)
  for (let i = 0; i < 20; i += 1) {
    clock.advance(10)
    expect((await limiter.consume('client')).allowed).toBe(true)
  }
  // The twenty new entries stand where the twenty old ones were.
  expect(await redis.client.strlen(await stateKey())).toBe(HEAD + 40 * ENTRY)
  clock.set((charged[38] as number) + 3_600_000)
  expect((await limiter.peek('client')).remaining).toBe(30)
})

test('a log that is written anew without its first entries still ends', async () => {
  const { limiter, clock, stateKey } = limiterOf('anew', 200)
  for (let i = 0; i < 100; i += 1) {
    clock.advance(1)
    await limiter.consume('client')
  }
  clock.advance(3_600_000 - 20)
  await limiter.consume('client')
  const key = await stateKey()
  expect(await redis.client.strlen(key)).toBeLessThan(HEAD + 100 * ENTRY)
  expect(await redis.client.pttl(key)).toBeGreaterThan(3_600_000)
})

test('a cost above the limit is refused without a walk through the log', async () => {
  const { limiter, clock } = limiterOf('walk', 600)
  for (let i = 0; i < 500; i += 1) {
    clock.advance(1)
    await limiter.consume('client')
  }
  await redis.server.command('CONFIG', 'RESETSTAT')
  const { allowed, retryAfterMs } = await limiter.consume('client', { cost: 601 })
  expect({ allowed, retryAfterMs }).toEqual({ allowed: false, retryAfterMs: Infinity })
  expect((await redis.server.commandStats()).getrange?.calls).toBeLessThanOrEqual(4)
})
