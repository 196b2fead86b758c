import {
  effectiveWindowSeconds,
  type FieldState,
  remainingUnits,
  reportedPolicy,
} from '../field-state.ts'
import { type PolicyText, type ReportedPolicy, secondsOf } from '../policy-texts.ts'
import type { FieldGroup } from './profile.ts'
import { createProfile } from './profile.ts'

/**
 * Drafts 04-07, which report only policies that count requests. Two members must not have the same quota: of such policies the one with the
 * longest window is listed: a client that keeps to 10 a minute also keeps to 10 a second. The choice
 * depends only on the policies, so the value stays the same from response to response.
 */
export const quotaPolicies: FieldGroup = {
  fields: ['RateLimit-Policy'],
  usage: false,
  write(state, set) {
    const { texts } = state
    let text = ''
    for (let i = 0; i < texts.length; i += 1) {
      const { quotaPolicy } = texts[i] as PolicyText
      if (quotaPolicy === undefined || isImplied(state, i)) continue
      text += text === '' ? quotaPolicy : `, ${quotaPolicy}`
    }
    if (text !== '') set('RateLimit-Policy', text)
  },
}

/** Whether another policy has the same quota and a longer window, or comes first among equal ones. */
function isImplied({ policies, texts }: FieldState, i: number): boolean {
  const policy = policies[i] as ReportedPolicy
  const window = secondsOf(policy) as number
  return policies.some((other, j) => {
    if (j === i || texts[j]?.quotaPolicy === undefined || other.limit !== policy.limit) return false
    const otherWindow = secondsOf(other) as number
    return otherWindow > window || (otherWindow === window && j < i)
  })
}

const usage: FieldGroup = {
  fields: ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'],
  usage: true,
  write(state, set) {
    const policy = reportedPolicy(state)
    if (policy === undefined) return
    set('RateLimit-Limit', String(policy.limit))
    set('RateLimit-Remaining', String(remainingUnits(policy)))
    set('RateLimit-Reset', String(effectiveWindowSeconds(policy, state.violated.length > 0)))
  },
}

/**
 * draft-ietf-httpapi-ratelimit-headers-06: `RateLimit-Limit: 100`, `RateLimit-Policy: 100;w=60`,
 * `RateLimit-Remaining: 50`, `RateLimit-Reset: 30` (seconds from now).
 */
export const draft6 = createProfile('draft-6', [quotaPolicies, usage])
