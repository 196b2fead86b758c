// Several processes share one Redis: together they admit the limit, exactly.

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { runInProcesses } from '@sluice/test-harness/processes'
import { patient, type RedisServer, startRedis } from '@sluice/test-harness/redis'
import { Redis } from 'ioredis'
import { ALGORITHM_NAMES } from '../../algorithms/index.ts'
import { createLimiter, type LimiterOptions, redisStore } from '../../index.ts'
import { expectAllToExpire, expiries } from './testing/ttl.ts'
import type { Work } from './testing/workers/consuming.ts'

const worker = new URL(`file://${__dirname}/testing/workers/consuming.ts`)

let redis: RedisServer
let client: Redis
beforeAll(async () => {
  redis = await startRedis()
  client = new Redis(redis.url)
})
afterAll(async () => {
  const left = await expiries(redis)
  client.disconnect()
  await redis.stop()
  expectAllToExpire(left)
})

/** What two processes have admitted together, for each limiter. */
async function admitted(work: Omit<Work, 'url'>): Promise<number[]> {
  const counts = await runInProcesses<number[]>(worker, 2, { ...work, url: redis.url })
  for (const count of counts.flat()) expect(count).toBeGreaterThanOrEqual(0)
  return work.limiters.map((_, i) => counts.reduce((sum, each) => sum + each[i]!, 0))
}

describe('two processes', () => {
  test('that ask for 300 at once get 100, with each algorithm', async () => {
    // Now is the middle of such a window (they begin at the epoch): none ends during the test,
    // and nothing that counts drains.
    const window = Math.floor(Date.now() / 6.5)
    const limiters = ALGORITHM_NAMES.map((algorithm): LimiterOptions => {
      const queue = algorithm === 'leaky-bucket' ? { maxDelay: Math.ceil(0.99 * window) } : {}
      return { limit: 100, window, algorithm, prefix: algorithm, ...queue }
    })
    expect(await admitted({ limiters, times: 150 })).toEqual([100, 100, 100, 100, 100])
  })

  test('that ask for 60 at once get 30', async () => {
    const limiters: LimiterOptions[] = [{ limit: 30, window: '1d', algorithm: 'token-bucket' }]
    expect(await admitted({ limiters, times: 30 })).toEqual([30])
  })

  test('that ask 50 times in one second, 10 a second allowed, take 10 from the day', async () => {
    const policies = [
      { name: 'burst', limit: 10, window: '1s', algorithm: 'fixed-window' },
      { name: 'day', limit: 1000, window: '1d', algorithm: 'fixed-window' },
    ] as const
    const now = 1_800_000_000_000
    expect(await admitted({ limiters: [{ policies }], times: 25, now })).toEqual([10])
    const limiter = createLimiter({
      ...patient,
      store: redisStore(client, { clock: () => now }),
      policies,
    })
    const left = (await limiter.peek('client')).policies.map(({ remaining }) => remaining)
    expect(left).toEqual([0, 990])
  })
})
