import { describe, expect, test } from '@jest/globals'
import type { PolicyDecision } from '@sluice/core'
import { retryAfterMs } from '../refusal/retry-after.ts'
import { longestWait } from './field-state.ts'
import { windowOf } from './policy-texts.ts'
import type { HeaderProfile } from './profiles/index.ts'
import { composeProfiles } from './profiles/index.ts'
import { fieldState, type Item, item, writeFields } from './testing/field-states.ts'
import vectors from './vectors.json' with { type: 'json' }

interface Vector {
  id: string
  desc: string
  state: {
    now: number
    policies: {
      name: string
      quota: number
      windowMs?: number
      unit?: string
      pk?: string
      remaining: number
      resetMs?: number
    }[]
    violated?: string[]
  }
  expect: Record<string, Record<string, string>>
}

/** One profile of the file is not written: a shorter form of 11. */
const PROFILES: Record<string, HeaderProfile> = {
  'editors-2026-08': 'draft-next',
  'draft-11': 'draft-11',
  'draft-07': 'draft-7',
  'draft-06': 'draft-6',
  'draft-03': 'draft-3',
  legacy: 'legacy',
}

function itemOf(policy: Vector['state']['policies'][number]): Item {
  const { name, quota: limit, windowMs, unit, pk, remaining, resetMs = 0 } = policy
  const partitionKey = pk === undefined ? undefined : new TextEncoder().encode(pk)
  return item({ name, limit, windowMs, unit, partitionKey }, remaining, resetMs)
}

function fieldsOf(vector: Vector, profile: HeaderProfile): Record<string, string> {
  const items = vector.state.policies.map(itemOf)
  const violated = items.filter(({ policy }) => vector.state.violated?.includes(policy.name))
  const state = fieldState(items, violated, vector.state.now)
  const fields: Record<string, string> = {}
  writeFields(composeProfiles([profile]), state, (name, value) => {
    expect(fields).not.toHaveProperty([name])
    fields[name] = value
  })
  const longest = longestWait(state)
  if (longest !== undefined) {
    const waited = state.policies[longest] as PolicyDecision
    const terms = { now: waited.at, windowMs: windowOf(waited) ?? 0, jitter: 0, seed: 'key' }
    fields['Retry-After'] = String(Math.ceil(retryAfterMs(waited.effectiveMs, terms) / 1000))
  }
  return fields
}

const cases = (vectors.vectors as unknown as Vector[]).flatMap((vector) =>
  Object.entries(vector.expect).flatMap(([name, expected]) => {
    const profile = PROFILES[name]
    return profile === undefined ? [] : [{ ...vector, profile, expected }]
  }),
)

describe('the vectors, byte for byte', () => {
  test('all of them are covered', () => {
    expect(cases).toHaveLength(21)
  })

  test.each(cases)('$id $profile: $desc', (vector) => {
    expect(fieldsOf(vector, vector.profile)).toEqual(vector.expected)
  })
})
