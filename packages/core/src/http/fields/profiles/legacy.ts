import { effectiveWindowMs, remainingUnits, reportedPolicy } from '../field-state.ts'
import { MAX_INTEGER } from '../structured-fields.ts'
import type { FieldGroup } from './profile.ts'
import { createProfile } from './profile.ts'

/**
 * The X-RateLimit fields, whose reset is seconds in one of two senses.
 * @param resetMs when the client may come back, of `ms` from `now` (epoch ms)
 */
export function xRateLimit(resetMs: (ms: number, now: number) => number): FieldGroup {
  return {
    fields: ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset'],
    usage: true,
    write(state, set) {
      const policy = reportedPolicy(state)
      if (policy === undefined) return
      const ms = resetMs(effectiveWindowMs(policy, state.violated.length > 0), state.now)
      set('X-RateLimit-Limit', String(policy.limit))
      set('X-RateLimit-Remaining', String(remainingUnits(policy)))
      set('X-RateLimit-Reset', String(Math.min(Math.ceil(ms / 1000), MAX_INTEGER)))
    },
  }
}

/**
 * The X-RateLimit fields that no specification defines. `X-RateLimit-Reset` is epoch seconds, as
 * GitHub sends it: more clients read that form correctly than seconds from now.
 */
export const legacy = createProfile('legacy', [xRateLimit((ms, now) => now + ms)])
