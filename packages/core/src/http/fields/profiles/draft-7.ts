import { effectiveWindowSeconds, remainingUnits, reportedPolicy } from '../field-state.ts'
import { quotaPolicies } from './draft-6.ts'
import type { FieldGroup } from './profile.ts'
import { createProfile } from './profile.ts'

const usage: FieldGroup = {
  fields: ['RateLimit'],
  usage: true,
  write(state, set) {
    const policy = reportedPolicy(state)
    if (policy === undefined) return
    const reset = effectiveWindowSeconds(policy, state.violated.length > 0)
    const remaining = remainingUnits(policy)
    set('RateLimit', `limit=${policy.limit}, remaining=${remaining}, reset=${reset}`)
  },
}

/**
 * draft-ietf-httpapi-ratelimit-headers-07: `RateLimit: limit=100, remaining=50, reset=30`, a
 * Dictionary, and `RateLimit-Policy: 100;w=60`.
 */
export const draft7 = createProfile('draft-7', [usage, quotaPolicies])
