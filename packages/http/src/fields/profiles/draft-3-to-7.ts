import type { PolicyDecision } from '@sluice/core'
import {
  effectiveWindowSeconds,
  type FieldState,
  remainingUnits,
  reportedPolicy,
} from '../field-state.ts'
import { MAX_INTEGER, type PolicyText, secondsOf } from '../policy-texts.ts'
import { createProfile, type FieldGroup, limitRemainingReset } from './profile.ts'

// Drafts 03-07 report only policies that count requests.

const FIELDS = ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'] as const

/**
 * Drafts 04-07. Two members must not have the same quota: of such policies the one with the
 * longest window is listed: a client that keeps to 10 a minute also keeps to 10 a second. The choice
 * depends only on the policies, so the value stays the same from response to response.
 */
const quotaPolicies: FieldGroup = {
  fields: ['RateLimit-Policy'],
  usage: false,
  write(state, set) {
    const { texts } = state
    let text = ''
    for (let i = 0; i < texts.length; i += 1) {
      const { quotaPolicy } = texts[i] as PolicyText
      if (quotaPolicy === undefined || (texts.length > 1 && isImplied(state, i))) continue
      text += text === '' ? quotaPolicy : `, ${quotaPolicy}`
    }
    if (text !== '') set('RateLimit-Policy', text)
  },
}

/** Whether another policy has the same quota and a longer window, or comes first among equal ones. */
function isImplied({ policies, texts }: FieldState, i: number): boolean {
  const policy = policies[i] as PolicyDecision
  const window = secondsOf(policy) as number
  return policies.some((other, j) => {
    if (j === i || texts[j]?.quotaPolicy === undefined || other.limit !== policy.limit) return false
    const otherWindow = secondsOf(other) as number
    return otherWindow > window || (otherWindow === window && j < i)
  })
}

/** The limit and the remaining quota as they are, and the reset in seconds from now. */
const usage = limitRemainingReset(FIELDS, effectiveWindowSeconds)

/** The expiring limit, then every quota-policy; equal quotas are allowed here. */
const usageWithPolicies = limitRemainingReset(FIELDS, effectiveWindowSeconds, {
  limitText(limit, texts) {
    let text = String(limit)
    for (const { quotaPolicy } of texts) if (quotaPolicy !== undefined) text += `, ${quotaPolicy}`
    return text
  },
})

const usageInOneField: FieldGroup = {
  fields: ['RateLimit'],
  usage: true,
  write(state, set) {
    const policy = reportedPolicy(state)
    if (policy === undefined) return
    const reset = effectiveWindowSeconds(policy, state.violated.length > 0)
    const remaining = remainingUnits(policy)
    set(
      'RateLimit',
      `limit=${Math.min(policy.limit, MAX_INTEGER)}, remaining=${remaining}, reset=${reset}`,
    )
  },
}

/**
 * draft-ietf-httpapi-ratelimit-headers-03: `RateLimit-Limit: 100, 100;w=60`,
 * `RateLimit-Remaining: 50`, `RateLimit-Reset: 30` (seconds from now).
 */
export const draft3 = createProfile('draft-3', [usageWithPolicies])

/**
 * draft-ietf-httpapi-ratelimit-headers-06: `RateLimit-Limit: 100`, `RateLimit-Policy: 100;w=60`,
 * `RateLimit-Remaining: 50`, `RateLimit-Reset: 30` (seconds from now).
 */
export const draft6 = createProfile('draft-6', [quotaPolicies, usage])

/**
 * draft-ietf-httpapi-ratelimit-headers-07: `RateLimit: limit=100, remaining=50, reset=30`, a
 * Dictionary, and `RateLimit-Policy: 100;w=60`.
 */
export const draft7 = createProfile('draft-7', [usageInOneField, quotaPolicies])
