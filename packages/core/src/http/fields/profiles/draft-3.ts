import { effectiveWindowSeconds, remainingUnits, reportedPolicy } from '../field-state.ts'
import type { PolicyText } from '../policy-texts.ts'
import type { FieldGroup } from './profile.ts'
import { createProfile } from './profile.ts'

const usage: FieldGroup = {
  fields: ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'],
  usage: true,
  write(state, set) {
    const policy = reportedPolicy(state)
    if (policy === undefined) return
    set('RateLimit-Limit', limitText(policy.limit, state.texts))
    set('RateLimit-Remaining', String(remainingUnits(policy)))
    set('RateLimit-Reset', String(effectiveWindowSeconds(policy, state.violated.length > 0)))
  },
}

/** The expiring limit, then every quota-policy; equal quotas are allowed here. */
function limitText(limit: number, texts: readonly PolicyText[]): string {
  let text = String(limit)
  for (const { quotaPolicy } of texts) if (quotaPolicy !== undefined) text += `, ${quotaPolicy}`
  return text
}

/**
 * draft-ietf-httpapi-ratelimit-headers-03: `RateLimit-Limit: 100, 100;w=60`,
 * `RateLimit-Remaining: 50`, `RateLimit-Reset: 30` (seconds from now).
 */
export const draft3 = createProfile('draft-3', [usage])
