import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import {
  parseDictionary,
  parseItem,
  parseList,
  serializeDictionary,
  serializeItem,
  serializeList,
} from 'structured-headers'
import { fieldState, item as itemOf, writeFields } from '../testing/field-states.ts'
import type { HeaderProfile } from './index.ts'
import { composeProfiles } from './index.ts'

type Canonical = (text: string) => string

const list: Canonical = (text) => serializeList(parseList(text))
const item: Canonical = (text) => serializeItem(parseItem(text))
const dictionary: Canonical = (text) => serializeDictionary(parseDictionary(text))

/** The structured type that each draft gives its fields. */
const TYPES: [HeaderProfile, Record<string, Canonical>][] = [
  ['draft-next', { 'RateLimit-Policy': list, RateLimit: list, 'RateLimit-Partition': list }],
  ['draft-11', { 'RateLimit-Policy': list, RateLimit: list }],
  ['draft-7', { 'RateLimit-Policy': list, RateLimit: dictionary }],
  [
    'draft-6',
    {
      'RateLimit-Policy': list,
      'RateLimit-Limit': item,
      'RateLimit-Remaining': item,
      'RateLimit-Reset': item,
    },
  ],
  ['draft-3', { 'RateLimit-Limit': list, 'RateLimit-Remaining': item, 'RateLimit-Reset': item }],
]

const policy = fc.record({
  name: fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 128 }),
  limit: fc.oneof(
    fc.nat({ max: 20 }),
    fc.maxSafeNat().map((n) => n % 1e15),
  ),
  windowMs: fc.option(
    fc.maxSafeNat().map((n) => n + 1 - (n === Number.MAX_SAFE_INTEGER ? 1 : 0)),
    {
      nil: undefined,
    },
  ),
  unit: fc.constantFrom('requests', 'content-bytes', 'tokens', 'concurrent-requests', undefined),
  partitionKey: fc.option(fc.uint8Array(), { nil: undefined }),
  key: fc.constantFrom('user:42', '203.0.113.7'),
  cost: fc.maxSafeNat(),
})

const states = fc
  .record({
    items: fc.array(
      fc.record({
        terms: policy,
        remaining: fc.double(),
        effectiveMs: fc.double(),
        resetMs: fc.double(),
        over: fc.boolean(),
      }),
      { minLength: 1, maxLength: 5 },
    ),
  })
  .map(({ items }) => {
    const all = items.map(({ terms, remaining, effectiveMs, resetMs }) =>
      itemOf(terms, remaining, effectiveMs, resetMs),
    )
    return fieldState(
      all,
      all.filter((_, i) => items[i]?.over),
      1_795_176_000_000,
    )
  })

describe('every field is in the canonical form of RFC 9651', () => {
  test.each(TYPES)('%s', (name, types) => {
    const profile = composeProfiles([name])
    fc.assert(
      fc.property(states, (state) => {
        writeFields(profile, state, (field, value) => {
          const canonical = types[field]
          expect(canonical?.(value)).toBe(value)
        })
      }),
      { numRuns: 500 },
    )
  })

  test('draft-7 has the keys limit, remaining, reset in this order', () => {
    const profile = composeProfiles(['draft-7'])
    fc.assert(
      fc.property(states, (state) => {
        writeFields(profile, state, (field, value) => {
          if (field !== 'RateLimit') return
          expect([...parseDictionary(value).keys()]).toEqual(['limit', 'remaining', 'reset'])
        })
      }),
    )
  })

  test('draft-6 has each quota once, and every windowed quota', () => {
    const profile = composeProfiles(['draft-6'])
    fc.assert(
      fc.property(states, (state) => {
        let quotas: unknown[] = []
        writeFields(profile, state, (field, value) => {
          if (field === 'RateLimit-Policy') quotas = parseList(value).map(([quota]) => quota)
        })
        const windowed = state.policies.filter((_, i) => state.texts[i]?.quotaPolicy !== undefined)
        const distinct = new Set(windowed.map(({ limit }) => limit))
        expect(quotas).toHaveLength(distinct.size)
        expect(new Set(quotas)).toEqual(distinct)
      }),
    )
  })
})
