import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { SluiceError } from '@sluice/core'
import { fieldState, type Item, item, writeFields } from '../testing/field-states.ts'
import type { HeaderProfile } from './index.ts'
import { composeProfiles, exposedHeaders, PROFILE_FIELDS } from './index.ts'

const NOW = 1_795_176_000_000
/** The profiles that count requests and report seconds. */
const PLAIN = ['draft-11', 'draft-7', 'draft-6', 'draft-3', 'legacy', 'legacy-delta'] as const
const ALL: HeaderProfile[] = ['draft-next', ...PLAIN, 'openai', 'anthropic']

const MINUTE = { name: 'minute', limit: 100, windowMs: 60_000 }
const HOUR = { name: 'hour', limit: 1000, windowMs: 3_600_000 }

interface Response {
  items: readonly Item[]
  violated: readonly Item[]
  now: number
}

function write(
  names: HeaderProfile | HeaderProfile[],
  { items = [], violated = [], now = NOW }: Partial<Response>,
) {
  const fields: Record<string, string> = {}
  const profile = composeProfiles([names].flat())
  writeFields(profile, fieldState(items, violated, now), (name, value) => {
    // Each field once.
    expect(fields).not.toHaveProperty([name])
    expect(profile.fields).toContain(name)
    fields[name] = value
  })
  return fields
}

/** A refusal by those of the items that have nothing left. */
function refused(items: Item[]): Partial<Response> {
  return { items, violated: items.filter(({ policy }) => policy.remaining <= 0) }
}

describe('any profile', () => {
  test.each(ALL)('%s has fields that are kept where a response is emptied', (name) => {
    expect(PROFILE_FIELDS).toEqual(expect.arrayContaining([...composeProfiles([name]).fields]))
  })

  test('no other source lists the fields', () => {
    const src = join(__dirname, '../..')
    const listing = readdirSync(src, { recursive: true, encoding: 'utf8' })
      .filter((file) => /\.ts$/.test(file) && !/\.test\.|testing\/|fields\/profiles\//.test(file))
      .filter((file) => {
        const code = readFileSync(join(src, file), 'utf8').replace(/\/\*.*?\*\/|\/\/[^\n]*/gs, '')
        return PROFILE_FIELDS.some((field) => code.includes(`'${field}'`))
      })
    expect(listing).toEqual([])
  })

  test('a window that is not known is the policy’s own', () => {
    const never = item(HOUR, 0, Number.POSITIVE_INFINITY)
    expect(write('draft-11', refused([never])).RateLimit).toBe('"hour";r=0;t=3600')
    expect(write('legacy', refused([never]))['X-RateLimit-Reset']).toBe(String(NOW / 1000 + 3600))
  })

  test('t=0 on a served request, and never on a refusal', () => {
    const done = item(MINUTE, 0, 0)
    expect(write('draft-11', { items: [done] }).RateLimit).toBe('"minute";r=0;t=0')
    expect(write('draft-11', refused([done])).RateLimit).toBe('"minute";r=0;t=1')
    expect(write('draft-6', refused([done]))['RateLimit-Reset']).toBe('1')
  })

  test('a refusal never shows a wait above the ceiling of Retry-After', () => {
    const decade = item({ name: 'decade', limit: 1, windowMs: 315_360_000_000 }, 0, 315_360_000_000)
    expect(write('draft-11', refused([decade])).RateLimit).toBe('"decade";r=0;t=2147483')
    expect(write('draft-7', refused([decade])).RateLimit).toBe(
      'limit=1, remaining=0, reset=2147483',
    )
    expect(write('draft-11', { items: [decade] }).RateLimit).toBe('"decade";r=0;t=315360000')
  })
})

describe('the older profiles', () => {
  const minute = (remaining: number, effectiveMs: number) => item(MINUTE, remaining, effectiveMs)
  const hour = (remaining: number, effectiveMs: number) => item(HOUR, remaining, effectiveMs)
  const limit = (state: Partial<Response>) => write('draft-6', state)['RateLimit-Limit']

  test('report the lowest remaining, of equals the longest reset', () => {
    expect(limit({ items: [minute(5, 100), hour(4, 1)] })).toBe('1000')
    expect(limit({ items: [minute(4, 100), hour(5, 200)] })).toBe('100')
    expect(limit({ items: [minute(5, 100), hour(5, 200)] })).toBe('1000')
    expect(limit({ items: [minute(5, 200), hour(5, 100)] })).toBe('100')
    expect(limit({ items: [minute(5, 100), hour(5, 100)] })).toBe('100')
  })

  test('report of those that refused the longest wait, whatever is left', () => {
    const over = [minute(2, 500), hour(9, 700)]
    expect(limit({ items: [...over, item({ name: 'd', limit: 5 }, 0, 0)], violated: over })).toBe(
      '1000',
    )
  })

  test('no two policies with the same quota; the longest window stays', () => {
    const items = [1000, 60_000, 60_000, 30_000].map((windowMs, i) =>
      item({ name: `p${i}`, limit: 10, windowMs }, i, 1),
    )
    for (const profile of ['draft-6', 'draft-7'] as const) {
      expect(write(profile, { items: [...items, hour(1, 1)] })['RateLimit-Policy']).toBe(
        '10;w=60, 1000;w=3600',
      )
    }
    expect(write('draft-3', { items: items.slice(0, 2) })['RateLimit-Limit']).toBe(
      '10, 10;w=1, 10;w=60',
    )
  })
})

describe('units', () => {
  const TOKENS = { ...MINUTE, name: 'tokens', limit: 40_000, unit: 'tokens' }
  const requests = item(MINUTE, 57, 1000)
  const tokens = item(TOKENS, 300, 9000)

  test('the drafts report the registered units, and leave out the others', () => {
    const bytes = item({ ...MINUTE, name: 'bytes', unit: 'content-bytes' }, 5, 1000)
    expect(write('draft-11', { items: [requests, tokens, bytes] })).toEqual({
      'RateLimit-Policy': '"minute";q=100;w=60, "bytes";q=100;qu="content-bytes";w=60',
      RateLimit: '"minute";r=57;t=1, "bytes";r=5;t=1',
    })
    for (const name of PLAIN) expect(write(name, { items: [tokens] })).toEqual({})
    for (const name of ['draft-7', 'draft-6', 'draft-3', 'legacy', 'legacy-delta'] as const) {
      expect(write(name, { items: [tokens, bytes, requests] })).toEqual(
        write(name, { items: [requests] }),
      )
    }
  })

  test('a refusal in a unit that a profile cannot name has no usage', () => {
    const state = { items: [requests, tokens], violated: [tokens] }
    expect(write(['draft-11', 'draft-6'], state)).toEqual({
      'RateLimit-Policy': '"minute";q=100;w=60',
    })
  })

  test('openai and anthropic have requests and tokens each in fields of their own', () => {
    expect(write('openai', { items: [requests, tokens] })).toEqual({
      'x-ratelimit-limit-requests': '100',
      'x-ratelimit-remaining-requests': '57',
      'x-ratelimit-reset-requests': '1s',
      'x-ratelimit-limit-tokens': '40000',
      'x-ratelimit-remaining-tokens': '300',
      'x-ratelimit-reset-tokens': '9s',
    })
    const input = item({ ...TOKENS, name: 'in', unit: 'input-tokens' }, 7, 500)
    const output = item({ ...TOKENS, name: 'out', unit: 'output-tokens' }, 8, 60_000)
    expect(write('anthropic', { items: [requests, input, output] })).toEqual({
      'anthropic-ratelimit-requests-limit': '100',
      'anthropic-ratelimit-requests-remaining': '57',
      'anthropic-ratelimit-requests-reset': '2026-11-20T12:00:01Z',
      'anthropic-ratelimit-input-tokens-limit': '40000',
      'anthropic-ratelimit-input-tokens-remaining': '7',
      'anthropic-ratelimit-input-tokens-reset': '2026-11-20T12:00:01Z',
      'anthropic-ratelimit-output-tokens-limit': '40000',
      'anthropic-ratelimit-output-tokens-remaining': '8',
      'anthropic-ratelimit-output-tokens-reset': '2026-11-20T12:01:00Z',
    })
    const rows = item({ ...MINUTE, unit: 'rows' }, 1, 1)
    expect(write(['openai', 'anthropic'], { items: [rows] })).toEqual({})
  })

  test('of several with one unit: the binding one, which on a refusal is one that refused', () => {
    const hourly = item({ ...TOKENS, name: 'hour', limit: 500_000 }, 9000, 60_000)
    const limit = (state: Partial<Response>) => write('openai', state)['x-ratelimit-limit-tokens']
    expect(limit({ items: [hourly, tokens] })).toBe('40000')
    expect(limit({ items: [hourly, tokens], violated: [hourly] })).toBe('500000')
    // A policy that did not refuse is reported too.
    const fields = write('openai', { items: [requests, tokens], violated: [tokens] })
    expect(fields['x-ratelimit-remaining-requests']).toBe('57')
    // It has nothing to wait for.
    const unused = item(MINUTE, 100, 0)
    const both = { items: [unused, tokens], violated: [tokens] }
    expect(write('openai', both)['x-ratelimit-reset-requests']).toBe('0s')
  })

  test('the reset is when the quota is whole again, and on a refusal no earlier than the wait', () => {
    const reset = (effectiveMs: number, resetMs: number, refuses = false) => {
      const one = item(TOKENS, 0, effectiveMs, resetMs)
      const state = { items: [one], violated: refuses ? [one] : [] }
      return [
        write('openai', state)['x-ratelimit-reset-tokens'],
        write('anthropic', state)['anthropic-ratelimit-tokens-reset'],
      ]
    }
    expect(reset(300, 45_000)).toEqual(['45s', '2026-11-20T12:00:45Z'])
    expect(reset(50_000, 0, true)).toEqual(['50s', '2026-11-20T12:00:50Z'])
    expect(reset(0, Number.POSITIVE_INFINITY)).toEqual(['1m0s', '2026-11-20T12:01:00Z'])
  })

  test.each([
    [0, '0s'],
    [999.5, '1s'],
    [3_723_004, '1h2m3.004s'],
    [86_400_000, '24h0m0s'],
  ])('openai: %d ms is %s, as Go writes it', (ms, text) => {
    const one = item(TOKENS, 1, 0, ms)
    expect(write('openai', { items: [one] })['x-ratelimit-reset-tokens']).toBe(text)
  })

  test('whatever the numbers are, clients can read them', () => {
    const strange = [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, -0, 1e21, -5]
    for (const remaining of strange) {
      for (const ms of strange) {
        const one = item(TOKENS, remaining, ms)
        for (const violated of [[], [one]]) {
          const state = { items: [one], violated, now: NOW + 0.5 }
          for (const [name, value] of Object.entries(write(['openai', 'anthropic'], state))) {
            const shape = !name.includes('reset')
              ? /^\d{1,15}$/
              : name.startsWith('x-')
                ? /^(\d{1,7}h)?(\d\d?m)?\d{1,2}(\.\d{1,3})?s$|^\d{1,3}ms$/
                : /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/
            expect(value).toMatch(shape)
          }
        }
      }
    }
  })
})

describe('draft-next', () => {
  const ofUser = { ...MINUTE, key: 'user:42', cost: 5 }

  test('has the available quota, the effective window, the cost and the dimension', () => {
    const hour = item({ ...HOUR, cost: 1 }, 7, 1_200_000)
    expect(write('draft-next', { items: [item(ofUser, 50, 30_000), hour] })).toEqual({
      'RateLimit-Policy': '"minute";q=100;w=60, "hour";q=1000;w=3600',
      RateLimit: '"minute";a=50;w=30;c=5, "hour";a=7;w=1200;c=1',
      'RateLimit-Partition': '"minute";user_id',
    })
  })

  test('of a refusal has the policies that refused, and what the request would have cost', () => {
    const state = refused([item({ ...HOUR, cost: 1 }, 7, 1_200_000), item(ofUser, 0, 12_001)])
    expect(write('draft-next', state).RateLimit).toBe('"minute";a=0;w=13;c=5')
  })

  test.each(['203.0.113.7', '2001:db8::/56', 'unknown', 'key:user:42', '{acme}user:42'])(
    'declares no dimension of the key %s, which is not a user alone',
    (key) => {
      const fields = write('draft-next', { items: [item({ ...ofUser, key }, 50, 30_000)] })
      expect(fields).not.toHaveProperty('RateLimit-Partition')
    },
  )

  test('with pk declares no dimension: the bytes would have to be the id of the user', () => {
    const partitionKey = new TextEncoder().encode('secret')
    const fields = write('draft-next', { items: [item({ ...ofUser, partitionKey }, 50, 30_000)] })
    expect(Object.keys(fields)).toEqual(['RateLimit-Policy', 'RateLimit'])
    expect(fields.RateLimit).toBe('"minute";a=50;w=30;pk=:c2VjcmV0:;c=5')
  })
})

describe('several profiles', () => {
  test('draft-7 is refused together with draft-8 or newer', () => {
    for (const newer of ['draft-next', 'draft-11', 'draft-10', 'draft-9', 'draft-8'] as const) {
      expect(() => composeProfiles(['draft-7', newer])).toThrow(SluiceError)
    }
  })

  test('draft-next is refused together with draft-11, whose parameters have other names', () => {
    expect(() => composeProfiles(['draft-next', 'draft-11'])).toThrow(/its own form of RateLimit/)
    expect(composeProfiles(['draft-6', 'draft-next']).fields.slice(0, 3)).toEqual([
      'RateLimit-Policy',
      'RateLimit',
      'RateLimit-Partition',
    ])
  })

  test('legacy is refused together with legacy-delta, whose reset means something else', () => {
    expect(() => composeProfiles(['legacy-delta', 'legacy'])).toThrow(/X-RateLimit-Limit/)
  })

  test('an unknown name is refused', () => {
    expect(() => composeProfiles(['draft-12' as HeaderProfile])).toThrow(
      /one or more of draft-next, draft-11/,
    )
  })

  test('the exposed names are those of the profiles, and Retry-After', () => {
    expect(exposedHeaders(['draft-11', 'draft-6'])).toEqual([
      'RateLimit-Policy',
      'RateLimit',
      'RateLimit-Limit',
      'RateLimit-Remaining',
      'RateLimit-Reset',
      'Retry-After',
    ])
    expect(exposedHeaders(['legacy'])).toEqual([
      'X-RateLimit-Limit',
      'X-RateLimit-Remaining',
      'X-RateLimit-Reset',
      'Retry-After',
    ])
    expect(exposedHeaders('openai').slice(5)).toEqual([
      'x-ratelimit-reset-tokens',
      'Retry-After',
      'Retry-After-Ms',
      'X-Should-Retry',
    ])
    expect(exposedHeaders([])).toEqual(['Retry-After'])
  })
})
