import type { WireItem } from '../wire-state.ts'
import { wireRemaining, wireSeconds } from '../wire-state.ts'
import { reportedItem } from './one-policy.ts'
import type { FieldGroup } from './profile.ts'
import { createProfile } from './profile.ts'

const usage: FieldGroup = {
  fields: ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'],
  usage: true,
  write(state, set) {
    const item = reportedItem(state)
    if (item === undefined) return
    set('RateLimit-Limit', limitText(item, state.items))
    set('RateLimit-Remaining', String(wireRemaining(item)))
    set('RateLimit-Reset', String(wireSeconds(item, state.violated.length > 0)))
  },
}

/** The expiring limit, then every quota-policy; equal quotas are allowed here. */
function limitText(reported: WireItem, items: readonly WireItem[]): string {
  if (items.length === 1) return reported.policy.quotaList
  let text = reported.policy.quotaText
  for (const { policy } of items) {
    if (policy.quotaPolicy !== undefined) text += `, ${policy.quotaPolicy}`
  }
  return text
}

/**
 * draft-ietf-httpapi-ratelimit-headers-03: `RateLimit-Limit: 100, 100;w=60`,
 * `RateLimit-Remaining: 50`, `RateLimit-Reset: 30` (seconds from now).
 */
export const draft3 = createProfile('draft-3', [usage])
