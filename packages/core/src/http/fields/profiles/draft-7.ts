import { wireRemaining, wireSeconds } from '../wire-state.ts'
import { quotaPolicies } from './draft-6.ts'
import { reportedItem } from './one-policy.ts'
import type { FieldGroup } from './profile.ts'
import { createProfile } from './profile.ts'

const usage: FieldGroup = {
  fields: ['RateLimit'],
  usage: true,
  write(state, set) {
    const item = reportedItem(state)
    if (item === undefined) return
    const reset = wireSeconds(item, state.violated.length > 0)
    const { quotaText } = item.policy
    set('RateLimit', `limit=${quotaText}, remaining=${wireRemaining(item)}, reset=${reset}`)
  },
}

/**
 * draft-ietf-httpapi-ratelimit-headers-07: `RateLimit: limit=100, remaining=50, reset=30`, a
 * Dictionary, and `RateLimit-Policy: 100;w=60`.
 */
export const draft7 = createProfile('draft-7', [usage, quotaPolicies])
