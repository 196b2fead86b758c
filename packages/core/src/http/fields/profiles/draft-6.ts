import type { WirePolicy } from '../wire-policy.ts'
import type { WireItem } from '../wire-state.ts'
import { wireRemaining, wireSeconds } from '../wire-state.ts'
import { reportedItem } from './one-policy.ts'
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
  write({ items }, set) {
    let text = ''
    for (const { policy } of items) {
      if (policy.quotaPolicy === undefined || isImplied(policy, items)) continue
      text += text === '' ? policy.quotaPolicy : `, ${policy.quotaPolicy}`
    }
    if (text !== '') set('RateLimit-Policy', text)
  },
}

/** Another policy has the same quota and a longer window, or is the first of equal ones. */
function isImplied(policy: WirePolicy, items: readonly WireItem[]): boolean {
  const window = policy.windowSeconds ?? 0
  let before = true
  for (const { policy: other } of items) {
    if (other === policy) before = false
    else if (other.quotaPolicy !== undefined && other.quota === policy.quota) {
      const otherWindow = other.windowSeconds ?? 0
      if (otherWindow > window || (otherWindow === window && before)) return true
    }
  }
  return false
}

const usage: FieldGroup = {
  fields: ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'],
  usage: true,
  write(state, set) {
    const item = reportedItem(state)
    if (item === undefined) return
    set('RateLimit-Limit', item.policy.quotaText)
    set('RateLimit-Remaining', String(wireRemaining(item)))
    set('RateLimit-Reset', String(wireSeconds(item, state.violated.length > 0)))
  },
}

/**
 * draft-ietf-httpapi-ratelimit-headers-06: `RateLimit-Limit: 100`, `RateLimit-Policy: 100;w=60`,
 * `RateLimit-Remaining: 50`, `RateLimit-Reset: 30` (seconds from now).
 */
export const draft6 = createProfile('draft-6', [quotaPolicies, usage])
