// Several processes share one Redis: together they admit the limit, exactly.

import { describe, expect, test } from '@jest/globals'
import { runInProcesses } from '@sluice/test-harness/processes'
import { patient } from '@sluice/test-harness/redis'
import { ALGORITHM_NAMES } from '../../algorithms/index.ts'
import { createLimiter, type LimiterOptions, redisStore } from '../../index.ts'
import { useExpiringRedis } from './testing/ttl.ts'
import type { Work } from './testing/workers/consuming.ts'
import type { Work as Waiting, Waits } from './testing/workers/waiting.ts'

const worker = new URL(`file://${__dirname}/testing/workers/consuming.ts`)
const waiting = new URL(`file://${__dirname}/testing/workers/waiting.ts`)

const redis = useExpiringRedis()

/** What two processes have admitted together, for each limiter. */
async function admitted(work: Omit<Work, 'url'>): Promise<number[]> {
  const counts = await runInProcesses<number[]>(worker, 2, { ...work, url: redis.server.url })
  for (const count of counts.flat()) expect(count).toBeGreaterThanOrEqual(0)
  return work.limiters.map((_, i) => counts.reduce((sum, each) => sum + each[i]!, 0))
}

describe('two processes', () => {
  const ofEachAlgorithm = (prefix: string) => {
    // Now is the middle of such a window (they begin at the epoch): none ends during the test,
    // and nothing that counts drains.
    const window = Math.floor(Date.now() / 6.5)
    return ALGORITHM_NAMES.map((algorithm): LimiterOptions => {
      const queue = algorithm === 'leaky-bucket' ? { maxDelay: Math.ceil(0.99 * window) } : {}
      return { limit: 100, window, algorithm, prefix: `${prefix}-${algorithm}`, ...queue }
    })
  }

  test('that ask for 300 at once get 100, with each algorithm', async () => {
    const limiters = ofEachAlgorithm('same')
    expect(await admitted({ limiters, times: 150 })).toEqual([100, 100, 100, 100, 100])
  })

  test('of two versions, with limits of 100 and 120, get 120 together; and 50 for a top-up that both make', async () => {
    const limiters = ofEachAlgorithm('versions')
    const together = await admitted({ limiters, limits: [100, 120], granted: 50, times: 200 })
    for (const [i, { algorithm = '' }] of limiters.entries()) {
      // A bucket takes no top-up. Less than a unit is rounded against the client where versions take turns with it.
      const isBucket = algorithm.endsWith('bucket')
      expect(together[i]).toBeLessThanOrEqual(isBucket ? 120 : 170)
      expect(together[i]).toBeGreaterThanOrEqual(isBucket ? 100 : 170)
    }
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
      store: redisStore(redis.client, { clock: () => now }),
      policies,
    })
    const left = (await limiter.peek('client')).policies.map(({ remaining }) => remaining)
    expect(left).toEqual([0, 990])
  })
})

test('60 waits in four processes are admitted as the limit says, each process in its turn', async () => {
  const [limit, window, times] = [6, 250, 15]
  const options: LimiterOptions = { limit, window, algorithm: 'sliding-log', prefix: 'waits' }
  const work: Waiting = { url: redis.server.url, options, keys: ['ada', 'bob'], times }
  const processes = await runInProcesses<Waits>(waiting, 4, work)
  for (const key of [0, 1]) {
    const waits = processes.map((each) => each[key] ?? [])
    const moments = waits.flatMap((each) => each.map(({ at }) => at)).sort((a, b) => a - b)
    expect(moments).toHaveLength(4 * times)
    // No window has more than the limit.
    const spans = moments.slice(limit).map((at, i) => at - (moments[i] as number))
    expect(Math.min(...spans)).toBeGreaterThanOrEqual(window)
    for (const each of waits) {
      // First come, first served.
      const waited = each.map(({ waitedMs }) => waitedMs)
      expect(waited).toEqual(waited.toSorted((a, b) => a - b))
    }
    // None is done before another one has had its first turn, however long a busy machine stops it.
    const firsts = waits.map((each) => Math.min(...each.map(({ at }) => at)))
    const lasts = waits.map((each) => Math.max(...each.map(({ at }) => at)))
    expect(Math.max(...firsts)).toBeLessThan(Math.min(...lasts))
  }
})
