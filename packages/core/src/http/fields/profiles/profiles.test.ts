import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { SluiceError } from '../../../errors/sluice-error.ts'
import type { WirePolicyTerms } from '../wire-policy.ts'
import { WirePolicy } from '../wire-policy.ts'
import type { WireItem, WireState } from '../wire-state.ts'
import type { HeaderProfile } from './index.ts'
import { composeProfiles, exposedHeaders, PROFILE_FIELDS } from './index.ts'

const NOW = 1_795_176_000_000
const ALL: HeaderProfile[] = ['draft-11', 'draft-7', 'draft-6', 'draft-3', 'legacy']

const MINUTE = { name: 'minute', quota: 100, windowMs: 60_000 }
const HOUR = { name: 'hour', quota: 1000, windowMs: 3_600_000 }

function item(terms: WirePolicyTerms, remaining: number, effectiveMs: number): WireItem {
  return { policy: new WirePolicy(terms), remaining, effectiveMs }
}

function write(names: HeaderProfile | HeaderProfile[], state: Partial<WireState>) {
  const fields: Record<string, string> = {}
  const profile = composeProfiles([names].flat())
  profile.write({ items: [], violated: [], now: NOW, ...state }, (name, value) => {
    // 18: each field once.
    expect(fields).not.toHaveProperty([name])
    expect(profile.fields).toContain(name)
    fields[name] = value
  })
  return fields
}

/** A refusal by those of the items that have nothing left. */
function refused(items: WireItem[]): Partial<WireState> {
  return { items, violated: items.filter(({ remaining }) => remaining <= 0) }
}

describe('any profile', () => {
  test.each(ALL)('%s has fields that are kept where a response is emptied', (name) => {
    expect(PROFILE_FIELDS).toEqual(expect.arrayContaining([...composeProfiles([name]).fields]))
  })

  test('no other source lists the fields', () => {
    const src = join(__dirname, '../../..')
    const listing = readdirSync(src, { recursive: true, encoding: 'utf8' })
      .filter((file) => /\.ts$/.test(file) && !/\.test\.|testing\/|fields\/profiles\//.test(file))
      .filter((file) => {
        const code = readFileSync(join(src, file), 'utf8').replace(/\/\*.*?\*\/|\/\/[^\n]*/gs, '')
        return PROFILE_FIELDS.some((field) => code.includes(`'${field}'`))
      })
    expect(listing).toEqual([])
  })

  test.each(ALL)('13: %s writes nothing without a policy', (name) => {
    expect(write(name, {})).toEqual({})
  })

  test.each(ALL)('8: %s writes digits whatever the numbers are', (name) => {
    const strange = [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, -0, 1e21, -5]
    for (const remaining of strange) {
      for (const effectiveMs of strange) {
        const one = item(MINUTE, remaining, effectiveMs)
        for (const violated of [[], [one]]) {
          for (const value of Object.values(write(name, { items: [one], violated }))) {
            expect(value).not.toMatch(/NaN|Infinity|-|\+|\.|[0-9]{16}|=(?![0-9])/)
          }
        }
      }
    }
  })

  test('7: what is left and the window have 15 digits at most', () => {
    expect(write('draft-11', { items: [item(MINUTE, 1e15, 1e21)] }).RateLimit).toBe(
      '"minute";r=999999999999999;t=999999999999999',
    )
  })

  test('a window that is not known is the policy’s own', () => {
    const never = item(HOUR, 0, Number.POSITIVE_INFINITY)
    expect(write('draft-11', refused([never])).RateLimit).toBe('"hour";r=0;t=3600')
    expect(write('legacy', refused([never]))['X-RateLimit-Reset']).toBe(String(NOW / 1000 + 3600))
  })

  test('15: what is left is rounded down, and debt is nothing left', () => {
    for (const [remaining, r] of [
      [4.9, 4],
      [0.9, 0],
      [-3, 0],
    ] as const) {
      expect(write('draft-6', { items: [item(MINUTE, remaining, 0)] })).toMatchObject({
        'RateLimit-Remaining': String(r),
      })
    }
  })

  test('14: t=0 on a served request, and never on a refusal', () => {
    const done = item(MINUTE, 0, 0)
    expect(write('draft-11', { items: [done] }).RateLimit).toBe('"minute";r=0;t=0')
    expect(write('draft-11', refused([done])).RateLimit).toBe('"minute";r=0;t=1')
    expect(write('draft-6', refused([done]))['RateLimit-Reset']).toBe('1')
  })

  test('23: a refusal tells no wait beyond the ceiling of Retry-After', () => {
    const decade = item({ name: 'decade', quota: 1, windowMs: 315_360_000_000 }, 0, 315_360_000_000)
    expect(write('draft-11', refused([decade])).RateLimit).toBe('"decade";r=0;t=2147483')
    expect(write('draft-7', refused([decade])).RateLimit).toBe(
      'limit=1, remaining=0, reset=2147483',
    )
    expect(write('draft-11', { items: [decade] }).RateLimit).toBe('"decade";r=0;t=315360000')
  })

  test('22: a refusal has all policies, and the usage of those that refused', () => {
    expect(write('draft-11', refused([item(MINUTE, 3, 1), item(HOUR, 0, 9000)]))).toEqual({
      'RateLimit-Policy': '"minute";q=100;w=60, "hour";q=1000;w=3600',
      RateLimit: '"hour";r=0;t=9',
    })
  })

  test('10: the partition key is the same in both fields', () => {
    const partitionKey = new TextEncoder().encode('user:42')
    expect(write('draft-11', { items: [item({ ...MINUTE, partitionKey }, 1, 1)] })).toEqual({
      'RateLimit-Policy': '"minute";q=100;w=60;pk=:dXNlcjo0Mg==:',
      RateLimit: '"minute";r=1;t=1;pk=:dXNlcjo0Mg==:',
    })
  })
})

describe('the older profiles', () => {
  const minute = (remaining: number, effectiveMs: number) => item(MINUTE, remaining, effectiveMs)
  const hour = (remaining: number, effectiveMs: number) => item(HOUR, remaining, effectiveMs)
  const limit = (state: Partial<WireState>) => write('draft-6', state)['RateLimit-Limit']

  test('34: report the lowest remaining, of equals the longest reset', () => {
    expect(limit({ items: [minute(5, 100), hour(4, 1)] })).toBe('1000')
    expect(limit({ items: [minute(4, 100), hour(5, 200)] })).toBe('100')
    expect(limit({ items: [minute(5, 100), hour(5, 200)] })).toBe('1000')
    expect(limit({ items: [minute(5, 200), hour(5, 100)] })).toBe('100')
    expect(limit({ items: [minute(5, 100), hour(5, 100)] })).toBe('100')
  })

  test('34: report of those that refused the longest wait, whatever is left', () => {
    const over = [minute(2, 500), hour(9, 700)]
    expect(limit({ items: [...over, item({ name: 'd', quota: 5 }, 0, 0)], violated: over })).toBe(
      '1000',
    )
  })

  test('35: no two policies with the same quota; the longest window stays', () => {
    const items = [1000, 60_000, 60_000, 30_000].map((windowMs, i) =>
      item({ name: `p${i}`, quota: 10, windowMs }, i, 1),
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

  test('36, 37: limit and reset are sent together, or neither without a window', () => {
    const inflight = item({ name: 'inflight', quota: 5, unit: 'concurrent-requests' }, 0, 0)
    for (const profile of ['draft-7', 'draft-6', 'draft-3', 'legacy'] as const) {
      expect(write(profile, { items: [inflight] })).toEqual({})
      expect(write(profile, refused([inflight]))).toEqual({})
    }
    expect(write('draft-6', { items: [inflight, minute(7, 1)] })).toEqual({
      'RateLimit-Limit': '100',
      'RateLimit-Policy': '100;w=60',
      'RateLimit-Remaining': '7',
      'RateLimit-Reset': '1',
    })
  })

  test('38: legacy resets at epoch seconds, rounded up once', () => {
    const reset = (now: number, ms: number) =>
      write('legacy', { now, items: [minute(1, ms)] })['X-RateLimit-Reset']
    expect(reset(NOW + 1, 999)).toBe(String(NOW / 1000 + 1))
    expect(reset(NOW + 1, 1000)).toBe(String(NOW / 1000 + 2))
    expect(Number(reset(NOW, 0))).toBeGreaterThan(1e9)
  })
})

describe('several profiles', () => {
  const items = [item(MINUTE, 50, 29_400)]

  test('a shared field is written once, in the words of the newer', () => {
    const both = {
      'RateLimit-Policy': '"minute";q=100;w=60',
      RateLimit: '"minute";r=50;t=30',
      'RateLimit-Limit': '100',
      'RateLimit-Remaining': '50',
      'RateLimit-Reset': '30',
    }
    expect(write(['draft-11', 'draft-6'], { items })).toEqual(both)
    expect(write(['draft-6', 'draft-11'], { items })).toEqual(both)
    expect(write(['draft-3', 'draft-6'], { items })).toEqual(write('draft-6', { items }))
    expect(write(['draft-3', 'draft-11'], { items })['RateLimit-Limit']).toBe('100, 100;w=60')
    expect(write(['legacy', 'draft-7', 'draft-6'], { items })).toEqual({
      ...write('draft-7', { items }),
      ...write('draft-6', { items }),
      ...write('legacy', { items }),
    })
  })

  test.each(['draft-10', 'draft-9', 'draft-8'] as const)('%s is draft-11', (alias) => {
    expect(composeProfiles([alias, 'draft-11', alias]).fields).toEqual([
      'RateLimit-Policy',
      'RateLimit',
    ])
    expect(write(alias, { items })).toEqual(write('draft-11', { items }))
  })

  test('39: draft-7 is refused beside draft-8 and newer', () => {
    for (const newer of ['draft-11', 'draft-10', 'draft-9', 'draft-8'] as const) {
      expect(() => composeProfiles(['draft-7', newer])).toThrow(SluiceError)
    }
  })

  test('an unknown name is refused', () => {
    expect(() => composeProfiles(['draft-12' as HeaderProfile])).toThrow(/draft-12/)
  })

  test('47: the exposed names are those of the profiles, and Retry-After', () => {
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
    expect(exposedHeaders([])).toEqual(['Retry-After'])
  })
})
