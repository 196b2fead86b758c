import { describe, expect, it, test } from '@jest/globals'
import { MAX_LIMIT } from '../algorithms/algorithm.ts'
import { OPTION_NAMES } from '../options/option-names.ts'
import { termsOf } from '../stores/inspection/keyspace-text.ts'
import { createLimiter } from './create-limiter.ts'
import type { Decision } from './decision.ts'
import { compilePolicies } from './policies.ts'
import { Policy } from './policy.ts'
import type { StoreLimiter } from './store-limiter.ts'

const policy = (options: object) => new Policy('', { limit: 10, window: '1m', ...options })
const keyspace = (options: object) => {
  const made = policy(options)
  return made.keyspace(made.limitFor(10)).name
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
    [{ limit: Number.MAX_SAFE_INTEGER, algorithm: 'fixed-window' }],
    [{ limit: Number.MAX_SAFE_INTEGER, window: 'month' }],
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
    [{ limit: MAX_LIMIT + 1, algorithm: 'token-bucket' }],
    [{ limit: MAX_LIMIT + 1, algorithm: 'leaky-bucket' }],
    [{ limit: 2 ** 53, algorithm: 'fixed-window' }],
    [{ limit: 2 ** 53, window: 'month' }],
    [{ limit: 10_001, algorithm: 'sliding-log' }],
    [{ window: '10.1y' }],
    [{ algorithm: 'token-bucket', burst: MAX_LIMIT + 1 }],
    [{ name: 'x'.repeat(129) }],
    [{ name: 'a\nb' }],
  ])('throws just beyond it: %j', (options) => {
    expect(() => policy(options)).toThrow(expect.objectContaining({ name: 'SluiceError' }))
  })

  it('separates the keys of policies that differ in name, algorithm or window', () => {
    const others = [
      { window: '2m' },
      { algorithm: 'fixed-window' },
      { algorithm: 'token-bucket' },
      { algorithm: 'leaky-bucket' },
      { name: 'other' },
    ]
    expect(new Set([{}, ...others].map(keyspace)).size).toBe(6)
    expect(keyspace({ window: 60_000 })).toBe(keyspace({}))
  })

  it('has one keyspace for all limits, so that a changed limit does not change the count', () => {
    expect(keyspace({ limit: 11 })).toBe(keyspace({}))
    expect(keyspace({ limit: () => 10 })).toBe(keyspace({}))
    const bucket = { algorithm: 'token-bucket' }
    expect(keyspace({ ...bucket, burst: 70, limit: 1e12 })).toBe(keyspace(bucket))
    const queue = { algorithm: 'leaky-bucket' }
    expect(keyspace({ ...queue, maxDelay: '2s' })).toBe(keyspace(queue))
    const slots = { limit: undefined, window: undefined, concurrent: 5 }
    expect(keyspace({ ...slots, concurrent: 6 })).toBe(keyspace(slots))
  })

  it('tells limits apart by their terms, in which defaults are left out', () => {
    const bucket = { algorithm: 'token-bucket' }
    const queue = { algorithm: 'leaky-bucket' }
    const terms = (options: object) => termsOf(policy(options).keyspace())
    expect(terms({ ...bucket, burst: 10 })).toBe(terms(bucket))
    expect(terms({ ...queue, maxDelay: '1s' })).toBe(terms(queue))
    expect(terms({ ...bucket, burst: 70 })).toBe('10,burst=70')
    expect(terms({ ...queue, maxDelay: '2s' })).toBe('10,maxDelay=2000')
    expect(terms({ limit: () => 10 })).toBe('a function of the request')
  })

  it('keeps the names of keyspaces from release to release, or every quota would be forgotten', () => {
    expect(keyspace({})).toBe('sliding-window:60000:default')
    expect(keyspace({ algorithm: 'token-bucket', burst: 70 })).toBe('token-bucket:60000:default')
    expect(keyspace({ limit: () => 10, name: 'a:b' })).toBe('sliding-window:60000:a:b')
    expect(keyspace({ window: 'month', timeZone: 'Europe/Berlin' })).toBe(
      'fixed-window:2678400000/month:Europe/Berlin:1:default',
    )
  })

  it('has one keyspace for all the values of a limit that is a function', () => {
    const varying = policy({ limit: () => 10 })
    expect(varying.compiledLimit).toBeUndefined()
    expect(varying.keyspace(varying.limitFor(10)).name).toBe(
      varying.keyspace(varying.limitFor(1000)).name,
    )
  })

  it.each(['token-bucket', 'leaky-bucket'])('a %s too', (algorithm) => {
    const varying = policy({ limit: () => 10, algorithm })
    const keyspaces = new Set(
      [0, 1, 7, 10, 60_000, 1e9, 1e12].map((n) => varying.keyspace(varying.limitFor(n)).name),
    )
    expect(keyspaces).toEqual(new Set([varying.keyspace(varying.anyLimit()).name]))
  })

  it('a bucket whose burst would take too long to refill at a limit of 1 still has one', () => {
    const base = { limit: () => 10, algorithm: 'token-bucket', burst: 1e9, window: '1d' }
    expect(policy(base).anyLimit().units).toBe(1e9)
  })

  it('compiles each value of such a limit once, and checks it', () => {
    const varying = policy({ limit: () => 10 })
    expect(varying.limitFor(10)).toBe(varying.limitFor(10))
    for (let limit = 0; limit < 2500; limit += 1) expect(varying.limitFor(limit).units).toBe(limit)
    for (const limit of ['5', Number.NaN, -1, undefined]) {
      expect(() => varying.limitFor(limit)).toThrow(expect.objectContaining({ option: 'limit' }))
    }
  })
})

describe('compilePolicies()', () => {
  it('takes up to 32', () => {
    const many = (count: number) => ({
      policies: Array.from({ length: count }, (_, i) => ({
        name: `${i}`,
        limit: 1,
        window: '1ms',
      })),
    })
    expect(compilePolicies(many(32), OPTION_NAMES.policy)).toHaveLength(32)
    expect(() => compilePolicies(many(33), OPTION_NAMES.policy)).toThrow('1 to 32')
  })

  it('takes sliding logs as long as a store reads them in one short call', () => {
    const logs = (...limits: number[]) => ({
      policies: limits.map((limit) => {
        return { name: `${limit}`, limit, window: '1h', algorithm: 'sliding-log' }
      }),
    })
    expect(compilePolicies(logs(10_000, 9_999, 1), OPTION_NAMES.policy)).toHaveLength(3)
    expect(() => compilePolicies(logs(10_000, 9_999, 2), OPTION_NAMES.policy)).toThrow(
      expect.objectContaining({ code: 'SLUICE_OPTION_CONFLICT', option: 'policies' }),
    )
  })

  it('takes no two names that differ in case alone', () => {
    const policies = ['Burst', 'day', 'burst'].map((name) => ({ name, limit: 1, window: '1m' }))
    expect(() => compilePolicies({ policies }, OPTION_NAMES.policy)).toThrow(
      expect.objectContaining({ code: 'SLUICE_OPTION_CONFLICT', option: 'policies[2].name' }),
    )
  })

  it('says in which policy a mistake is', () => {
    const options = {
      policies: [
        { name: 'a', limit: 1, window: '1ms' },
        { name: 'b', limit: 1, window: 0 },
      ],
    }
    expect(() => compilePolicies(options, OPTION_NAMES.policy)).toThrow(
      expect.objectContaining({ option: 'policies[1].window' }),
    )
  })
})

describe('the share of the clients that a policy refuses', () => {
  const CLIENTS = Array.from({ length: 400 }, (_, i) => `user:${i}`)
  const chosen = (options: object, shard = '') => {
    const limiter = createLimiter({ limit: 0, enforce: 0.1, ...options } as never) as StoreLimiter
    const found = CLIENTS.filter((key) => !(limiter.peek(shard + key) as Decision).allowed)
    limiter.close()
    expect(found.length).toBeGreaterThan(15)
    expect(found.length).toBeLessThan(80)
    return found
  }
  const inBoth = (one: string[], other: string[]) => one.filter((key) => other.includes(key)).length

  test('differs between limiters that have other names, or no name and other terms', () => {
    const minute = chosen({ window: '1m' })
    expect(chosen({ window: '1m' })).toEqual(minute)
    const named = chosen({ window: '1m', name: 'api' })
    for (const other of [chosen({ window: '1h' }), named, chosen({ window: '1m', name: 'login' })])
      expect(inBoth(minute, other)).toBeLessThan(minute.length / 2)
    expect(inBoth(named, chosen({ window: '1m', name: 'login' }))).toBeLessThan(named.length / 2)
    expect(chosen({ window: '1h', name: 'api' })).toEqual(named)
  })

  test('is the same with a shard before the key and without', () => {
    expect(chosen({ window: '1m' }, '{acme}')).toEqual(chosen({ window: '1m' }))
  })
})
