// Every key goes away by itself: never later than it must, never before its state is whole.

import { describe, expect, test } from '@jest/globals'
import { patient, until, windowWithRoom } from '@sluice/test-harness/redis'
import { ALGORITHM_NAMES } from '../../algorithms/index.ts'
import { type AlgorithmName, createLimiter, type Decision } from '../../index.ts'
import { expiries, useExpiringRedis } from './testing/ttl.ts'

const DAY = 86_400_000

const redis = useExpiringRedis()

async function expiriesOf(prefix: string) {
  const all = await expiries(redis.server)
  return all.filter(({ key }) => key.startsWith(`${prefix}:`))
}

/** Expects that the only key of the prefix lives until what the decision says of it has come to pass. */
async function expectToLive(prefix: string, decision: Decision, spans: number): Promise<void> {
  const [expiry, ...others] = await expiriesOf(prefix)
  expect(others).toEqual([])
  const fullAt = decision.at + decision.resetMs
  expect(expiry?.at).toBeGreaterThanOrEqual(fullAt)
  expect(expiry?.at).toBeLessThanOrEqual(decision.at + Math.max(spans, 1000) + 1000)
}

// None that ends between a decision and the look at its key.
const windows = [600_000, 40 * DAY, 3650 * DAY]
const cases = ALGORITHM_NAMES.flatMap((name) => windows.map((window) => [name, window] as const))

describe.each(cases)('%s, a window of at most %i ms', (algorithm, longest) => {
  const window = windowWithRoom(longest)
  const prefix = `${algorithm}-${window}`
  // The longest that a state lasts is two windows (sliding window), kept twice as long.
  const spans = 4 * window
  const limiterOf = (own: string) => {
    const queue = algorithm === 'leaky-bucket' ? { maxDelay: window } : {}
    return createLimiter({
      ...patient,
      store: redis.client,
      limit: 4,
      window,
      algorithm,
      prefix: own,
      ...queue,
    })
  }

  test('a key expires from the write that made it, and after every later one', async () => {
    const limiter = limiterOf(prefix)
    for (const cost of [1, 2, 1, 3, 0]) {
      await expectToLive(prefix, await limiter.consume('client', { cost }), spans)
    }
    await limiter.settle('client', -2)
    await expectToLive(prefix, await limiter.peek('client'), spans)
    await limiter.settle('client', 4)
    await expectToLive(prefix, await limiter.peek('client'), 2 * spans)
    await limiter.block('client', window)
    await expectToLive(prefix, await limiter.peek('client'), spans)
    await limiter.reset('client')
    expect(await expiriesOf(prefix)).toEqual([])
  })

  test('a key made by settle or by block expires too', async () => {
    const settled = limiterOf(`${prefix}-settled`)
    await settled.settle('client', 3)
    await expectToLive(`${prefix}-settled`, await settled.peek('client'), spans)
    const blocked = limiterOf(`${prefix}-blocked`)
    await blocked.block('client', window)
    await expectToLive(`${prefix}-blocked`, await blocked.peek('client'), spans)
  })

  test('a cost of 0, a refusal, a peek and giving back what nobody took make no key', async () => {
    const limiter = limiterOf(`${prefix}-none`)
    await limiter.consume('client', { cost: 0 })
    await limiter.consume('client', { cost: 1000 })
    await limiter.peek('client')
    await limiter.settle('client', -3)
    await limiter.reset('client')
    expect(await expiriesOf(`${prefix}-none`)).toEqual([])
  })
})

test('a window of half a second admits again, and its keys expire', async () => {
  const run = async (algorithm: AlgorithmName) => {
    const prefix = `half-${algorithm}`
    const limiter = createLimiter({
      ...patient,
      store: redis.client,
      limit: 2,
      window: '500ms',
      algorithm,
      prefix,
    })
    await Promise.all(Array.from({ length: 10 }, () => limiter.consume('client')))
    expect((await expiriesOf(prefix)).every(({ at }) => at > 0)).toBe(true)
    const admitted = async () => (await limiter.consume('client')).allowed
    await until(admitted, { what: `${algorithm} admits the client again` })
    const gone = async () => (await expiriesOf(prefix)).length === 0
    await until(gone, { everyMs: 50, what: `the key of ${algorithm} is gone` })
  }
  await Promise.all(ALGORITHM_NAMES.map(run))
})

test('the TTL is renewed in time, over many decisions', async () => {
  const run = async (algorithm: AlgorithmName) => {
    const prefix = `many-${algorithm}`
    const limiter = createLimiter({
      ...patient,
      store: redis.client,
      limit: 1e4,
      window: '400ms',
      algorithm,
      prefix,
    })
    const moments = new Set<number>()
    const first = await limiter.consume('client')
    let writes = 1
    // The least TTL is a second and a window: so this sees the first one renewed at least once,
    // and most decisions leave it, unless each comes after a stall.
    for (let last = first; last.at < first.at + 2_000 || 2 * moments.size >= writes; writes++) {
      last = await limiter.consume('client')
      const [expiry] = await expiriesOf(prefix)
      const fullAt = last.at + last.resetMs
      if (!expiry && (await limiter.peek('client')).at >= fullAt) continue
      expect(expiry?.at).toBeGreaterThanOrEqual(fullAt)
      moments.add(expiry!.at)
    }
    expect(moments.size).toBeGreaterThan(1)
  }
  await Promise.all(ALGORITHM_NAMES.map(run))
})

test.each([
  ['token-bucket', '1d', 3_600_000],
  ['token-bucket', '10s', 10_000],
  ['leaky-bucket', '1d', 3_600_000],
] as const)(
  'the key of a %s that drains quickly (%s) is kept for the next requests',
  async (...row) => {
    const [algorithm, window, leastMs] = row
    const prefix = `quick-${algorithm}-${window}`
    const limiter = createLimiter({
      ...patient,
      store: redis.client,
      limit: 1e6,
      window,
      algorithm,
      prefix,
    })
    const lives = async (decisions: readonly Decision[]) => {
      const [expiry] = await expiriesOf(prefix)
      const lifeMs = expiry!.at - decisions[0]!.at
      expect(lifeMs).toBeGreaterThanOrEqual(leastMs)
      expect(lifeMs).toBeLessThanOrEqual(leastMs + 2_000)
    }
    await lives([await limiter.consume('client')])
    await limiter.reset('client')
    await lives(
      await Promise.all([limiter.consume('client'), limiter.consume('client', { cost: 0 })]),
    )
  },
)
