import type { PolicyDecision } from '@sluice/core'
import type { FieldState } from '../field-state.ts'
import { type PolicyText, partitionText, policyText } from '../policy-texts.ts'
import type { Profile, SetField } from '../profiles/index.ts'

/** A policy in a response, as a test describes it. */
export interface Item {
  readonly policy: PolicyDecision
  readonly text: PolicyText
  readonly cost?: number | undefined
}

export interface ItemTerms {
  readonly name: string
  readonly limit: number
  /** Left out if the policy counts concurrent requests, which have no window. */
  readonly windowMs?: number | undefined
  readonly unit?: string | undefined
  readonly partitionKey?: Uint8Array | undefined
  /** The client's key. Default: an address. */
  readonly key?: string | undefined
  readonly cost?: number | undefined
}

export function item(
  { name, limit, windowMs, unit, partitionKey, key = '203.0.113.7', cost }: ItemTerms,
  remaining: number,
  effectiveMs: number,
  resetMs = effectiveMs,
): Item {
  const counted = windowMs === undefined ? 'concurrent-requests' : (unit ?? 'requests')
  const terms = { name, limit, unit: counted, windowMs: windowMs ?? 60_000 }
  return {
    policy: { ...terms, key, remaining, effectiveMs, resetMs } as PolicyDecision,
    text: policyText(terms, partitionKey && partitionText(partitionKey)),
    cost,
  }
}

/** @param violated the items that refused */
export function fieldState(
  items: readonly Item[],
  violated: readonly Item[] = [],
  now = 0,
): FieldState {
  return {
    policies: items.map(({ policy }) => ({ ...policy, at: now })),
    texts: items.map(({ text }) => text),
    violated: violated.map((each) => items.indexOf(each)),
    charges: items.flatMap(({ cost }) => (cost === undefined ? [] : [{ cost }])),
  }
}

/** Writes the fields of a profile. */
export function writeFields(profile: Profile, state: FieldState, set: SetField): void {
  for (const group of profile.groups) group.write(state, set)
}
