import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { Policy } from '../../limiter/policy.ts'
import { inspectedKeyspace } from './inspected-keyspace.ts'
import { parseKeyspace } from './keyspace-name.ts'
import { termsOf } from './keyspace-text.ts'

const policies = [
  {},
  { limit: 0 },
  { name: 'a:b/c,burst=3:d' },
  { name: '5' },
  { algorithm: 'sliding-log' },
  { algorithm: 'token-bucket' },
  { algorithm: 'token-bucket', burst: 70 },
  { algorithm: 'token-bucket', limit: 0, burst: 70 },
  { algorithm: 'token-bucket', limit: 1e12, window: '10y' },
  { algorithm: 'leaky-bucket' },
  { algorithm: 'leaky-bucket', maxDelay: '1d' },
  { window: 'day' },
  { window: 'week', timeZone: 'America/Argentina/Buenos_Aires', anchor: '2026-01-07' },
  { window: 'month', timeZone: 'Asia/Kolkata', anchor: 31, name: '7:month:UTC:1' },
  { limit: undefined, window: undefined, concurrent: 5 },
]

describe('the name of a keyspace', () => {
  test.each(policies)('tells all of %j with its terms', (options) => {
    const policy = new Policy('', { limit: 10, window: '1m', ...options } as object)
    const limit = policy.anyLimit()
    const found = inspectedKeyspace(policy.keyspace(limit).name)
    found?.learn(termsOf(policy.keyspace()))
    // Slots have no window: each says itself for how long it is held.
    const windowMs = policy.holdsSlots ? 0 : policy.windowMs
    expect(found).toMatchObject({ policy: policy.name, windowMs })
    expect(found?.tells).toBe('everything')
    expect(found?.algorithm).toBe(limit.algorithm)
    expect(found?.limit.units).toBe(limit.units)
    const constants = policy.holdsSlots ? [limit.units, 0] : limit.constants(1e12)
    expect(found?.limit.constants(1e12)).toEqual(constants)
  })

  test.each([
    [{ limit: () => 10 }, 'use'],
    [{ limit: () => 10, window: 'month' }, 'use'],
    [{ anchor: () => 10, window: 'month' }, 'everything'],
    [{ window: () => '1h', algorithm: 'token-bucket' }, 'everything'],
    [{ limit: () => 10, algorithm: 'sliding-log' }, 'use'],
    [{ limit: () => 10, algorithm: 'token-bucket', burst: 20 }, 'blocks'],
    [{ limit: () => 10, algorithm: 'leaky-bucket' }, 'blocks'],
  ])('%p, whose options are functions, shows: %s', (options, tells) => {
    const policy = new Policy('', { limit: 10, window: '1m', ...options } as never)
    const found = inspectedKeyspace(policy.keyspace().name)
    found?.learn(termsOf(policy.keyspace()))
    expect(found?.tells).toBe(tells)
  })

  test('shows all that is used of a limit that it does not know, where units are only counted', () => {
    const options = { limit: () => 10, window: 'month' }
    const found = inspectedKeyspace(new Policy('', options as never).keyspace().name)
    expect(found?.limit.units).toBe(Number.MAX_SAFE_INTEGER)
  })

  test('has a time zone that is an offset, where Node knows those', () => {
    const name = 'fixed-window:86400000/day:+05:30:1:7:default'
    expect(parseKeyspace(name)).toMatchObject({ calendar: 'day:+05:30:1', policy: '7:default' })
  })

  test.each(['', '-', '-1', '1.5', '10001', '5,limit=3', 'a function of the request'])(
    'tells no more with %j, which are no params of it',
    (text) => {
      const found = inspectedKeyspace('sliding-log:60000:default')
      found?.learn(text)
      expect(found?.tells).toBe('use')
    },
  )

  test.each([
    '',
    'default',
    'p0',
    'sliding-window:0:default',
    'sliding-window:60000:',
    'sliding-window:60000:a\u001b[2J',
    'constructor:60000:default',
    'fixed-window:86400000/day:Nowhere/At_All:1:default',
    'sliding-window:99999999999999999999:default',
    'ban:0:sliding-window:60000:default',
    'ban:1000:nothing',
    'dry-sliding-window:60000:default',
  ])('is not %j', (name) => {
    expect(inspectedKeyspace(name)).toBeUndefined()
  })

  test('may be anything that others have put there', () => {
    const terms = fc.constantFrom(
      'token-bucket',
      ':',
      '60000',
      '*',
      ',burst=',
      '/',
      'of',
      '9'.repeat(400),
      'month:',
      '+00:00',
      '0',
      'ban',
      'x',
    )
    fc.assert(
      fc.property(
        fc.array(terms).map((parts) => parts.join('')),
        (name) => {
          inspectedKeyspace(name)
        },
      ),
    )
  })
})
