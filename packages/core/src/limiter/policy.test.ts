import { describe, expect, it } from '@jest/globals'
import { MAX_LIMIT } from '../algorithms/algorithm.ts'
import { PLACES } from '../options/places.ts'
import { compilePolicies } from './policies.ts'
import { Policy } from './policy.ts'

const policy = (options: object) => new Policy('', { limit: 10, window: '1m', ...options })
const keyspace = (options: object) => {
  const made = policy(options)
  return made.space(made.limitFor(10))
}

describe('Policy', () => {
  it('is a sliding window named default unless it says otherwise', () => {
    const { name, windowMs, compiledLimit } = policy({})
    expect({
      name,
      windowMs,
      algorithm: compiledLimit?.algorithm.name,
      limit: compiledLimit?.units,
    }).toEqual({
      name: 'default',
      windowMs: 60_000,
      algorithm: 'sliding-window',
      limit: 10,
    })
  })

  it.each([
    [{ limit: 0 }],
    [{ limit: MAX_LIMIT }],
    [{ limit: 10_000, algorithm: 'sliding-log' }],
    [{ window: 1 }],
    [{ window: '10y' }],
    [{ algorithm: 'token-bucket', burst: 1 }],
    [{ algorithm: 'token-bucket', limit: 100_000, burst: MAX_LIMIT }],
    [{ algorithm: 'token-bucket', limit: 0, burst: 5 }],
    [{ algorithm: 'leaky-bucket', maxDelay: 0 }],
    [{ algorithm: 'leaky-bucket', maxDelay: '1d' }],
    [{ name: 'x'.repeat(128) }],
    [{ name: 'da"ily\\' }],
  ])('accepts what is just within the range: %j', (options) => {
    expect(() => policy(options)).not.toThrow()
  })

  it.each([
    [{ limit: MAX_LIMIT + 1 }],
    [{ limit: 10_001, algorithm: 'sliding-log' }],
    [{ window: '10.1y' }],
    [{ algorithm: 'token-bucket', burst: MAX_LIMIT + 1 }],
    [{ name: 'x'.repeat(129) }],
    [{ name: 'a\nb' }],
  ])('throws just beyond it: %j', (options) => {
    expect(() => policy(options)).toThrow(expect.objectContaining({ name: 'SluiceError' }))
  })

  it('separates the keys of policies that differ, and only those', () => {
    const others = [
      { limit: 11 },
      { window: '2m' },
      { algorithm: 'fixed-window' },
      { algorithm: 'token-bucket' },
      { algorithm: 'token-bucket', burst: 70 },
      { algorithm: 'token-bucket', burst: 70, limit: 70 },
      { algorithm: 'leaky-bucket' },
      { algorithm: 'leaky-bucket', maxDelay: '2s' },
      { name: 'other' },
      { limit: () => 10 },
    ]
    expect(new Set([{}, ...others].map(keyspace)).size).toBe(11)
    expect(keyspace({ window: 60_000 })).toBe(keyspace({}))
    const bucket = { algorithm: 'token-bucket' }
    expect(keyspace({ ...bucket, burst: 10 })).toBe(keyspace(bucket))
    const queue = { algorithm: 'leaky-bucket' }
    expect(keyspace({ ...queue, maxDelay: '1s' })).toBe(keyspace(queue))
  })

  it('keeps the names of keyspaces from release to release, or every quota would be forgotten', () => {
    expect(keyspace({})).toBe('sliding-window:60000:10:default')
    expect(keyspace({ algorithm: 'token-bucket' })).toBe('token-bucket:60000:10/6000:default')
    expect(keyspace({ algorithm: 'token-bucket', burst: 70 })).toBe(
      'token-bucket:60000:10,burst=70/6000:default',
    )
    expect(keyspace({ limit: () => 10, name: 'a:b' })).toBe('sliding-window:60000:*:a:b')
    expect(keyspace({ window: 'month', timeZone: 'Europe/Berlin' })).toBe(
      'fixed-window:2678400000:10/month:Europe/Berlin:1:default',
    )
  })

  it('has one keyspace for all the values of a limit that is a function', () => {
    const tiers = policy({ limit: () => 10 })
    expect(tiers.compiledLimit).toBeUndefined()
    expect(tiers.space(tiers.limitFor(10))).toBe(tiers.space(tiers.limitFor(1000)))
  })

  it.each(['token-bucket', 'leaky-bucket'])('a %s too', (algorithm) => {
    const tiers = policy({ limit: () => 10, algorithm })
    const keyspaces = new Set([0, 1, 7, 10, 60_000, 1e9].map((n) => tiers.space(tiers.limitFor(n))))
    expect(keyspaces).toEqual(new Set([tiers.space(tiers.typicalLimit)]))
  })

  it('a bucket has few keyspaces for limits too large for ticks of a millisecond', () => {
    const tiers = policy({ limit: () => 10, algorithm: 'token-bucket', window: '1d' })
    const keyspaces = new Set<string>()
    for (let limit = 1; limit <= MAX_LIMIT; limit = Math.ceil(limit * 1.01)) {
      keyspaces.add(tiers.space(tiers.limitFor(limit)))
    }
    expect(keyspaces.size).toBeLessThanOrEqual(15)
  })

  it('a bucket whose burst would take too long to refill at a limit of 1 still has one', () => {
    const base = { limit: () => 10, algorithm: 'token-bucket', burst: 1e9, window: '1d' }
    expect(policy(base).typicalLimit.units).toBe(1e9)
  })

  it('compiles each value of such a limit once, and checks it', () => {
    const tiers = policy({ limit: () => 10 })
    expect(tiers.limitFor(10)).toBe(tiers.limitFor(10))
    for (let limit = 0; limit < 2500; limit += 1) expect(tiers.limitFor(limit).units).toBe(limit)
    for (const limit of ['5', Number.NaN, -1, undefined]) {
      expect(() => tiers.limitFor(limit)).toThrow(expect.objectContaining({ option: 'limit' }))
    }
  })
})

describe('compilePolicies()', () => {
  it('takes up to 32', () => {
    const many = (count: number) => ({
      policies: Array.from({ length: count }, (_, i) => ({ name: `${i}`, limit: 1, window: 1 })),
    })
    expect(compilePolicies(many(32), PLACES.policy)).toHaveLength(32)
    expect(() => compilePolicies(many(33), PLACES.policy)).toThrow('1 to 32')
  })

  it('takes sliding logs as long as a store reads them in one short call', () => {
    const logs = (...limits: number[]) => ({
      policies: limits.map((limit) => {
        return { name: `${limit}`, limit, window: '1h', algorithm: 'sliding-log' }
      }),
    })
    expect(compilePolicies(logs(10_000, 9_999, 1), PLACES.policy)).toHaveLength(3)
    expect(() => compilePolicies(logs(10_000, 9_999, 2), PLACES.policy)).toThrow(
      expect.objectContaining({ code: 'SLUICE_OPTION_CONFLICT', option: 'policies' }),
    )
  })

  it('says in which policy a mistake is', () => {
    const options = {
      policies: [
        { name: 'a', limit: 1, window: 1 },
        { name: 'b', limit: 1, window: 0 },
      ],
    }
    expect(() => compilePolicies(options, PLACES.policy)).toThrow(
      expect.objectContaining({ option: 'policies[1].window' }),
    )
  })
})
