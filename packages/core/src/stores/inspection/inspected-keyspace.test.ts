import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { Policy } from '../../limiter/policy.ts'
import { inspectedKeyspace } from './inspected-keyspace.ts'
import { parseKeyspace } from './keyspace-name.ts'

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
  test.each(policies)('tells all of %j', (options) => {
    const policy = new Policy('', { limit: 10, window: '1m', ...options } as object)
    const limit = policy.typicalLimit
    const found = inspectedKeyspace(policy.space(limit))
    expect(found).toMatchObject({ policy: policy.name, windowMs: policy.windowMs })
    expect(found?.tells).toBe('everything')
    expect(found?.algorithm).toBe(limit.algorithm)
    expect(found?.limit.units).toBe(limit.units)
    expect(found?.limit.constants(1e12)).toEqual(limit.constants(1e12))
  })

  test.each([
    [{ limit: () => 10 }, 'use'],
    [{ limit: () => 10, window: 'month' }, 'use'],
    [{ anchor: () => 10, window: 'month' }, 'everything'],
    [{ limit: () => 10, algorithm: 'sliding-log' }, 'use'],
    [{ limit: () => 10, algorithm: 'token-bucket', burst: 20 }, 'blocks'],
    [{ limit: () => 10, algorithm: 'leaky-bucket' }, 'blocks'],
  ])('%p, whose options are functions, shows: %s', (options, tells) => {
    const policy = new Policy('', { limit: 10, window: '1m', ...options } as never)
    expect(inspectedKeyspace(policy.space(policy.typicalLimit))).toMatchObject({ tells })
  })

  test('has a time zone that is an offset, where Node knows those', () => {
    const name = 'fixed-window:86400000:10/day:+05:30:1:7:default'
    expect(parseKeyspace(name)).toMatchObject({ scale: 'day:+05:30:1', policy: '7:default' })
  })

  test('of a bucket that another version counted in another scale tells only blocks', () => {
    expect(inspectedKeyspace('token-bucket:60000:10/7:default')).toMatchObject({ tells: 'blocks' })
  })

  test.each([
    '',
    'default',
    'p0',
    'sliding-window:0:10:default',
    'sliding-window:60000:10:',
    'sliding-window:60000:10:a\u001b[2J',
    'constructor:60000:10:default',
    'sliding-log:60000:10001:default',
    'fixed-window:86400000:10/day:Nowhere/At_All:1:default',
    'sliding-window:99999999999999999999:10:default',
    'ban:0:3:sliding-window:60000:10:default',
    'ban:1000:101:sliding-window:60000:10:default',
    'ban:1000:3:nothing',
    'dry-sliding-window:60000:10:default',
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
