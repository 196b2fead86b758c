import { effectiveWindowMs, type FieldState, remainingUnits } from '../field-state.ts'
import { type ReportedPolicy, windowOf } from '../policy-text.ts'

/**
 * The one policy that drafts 03-07 and the X-RateLimit fields report, which cannot name what
 * they count: so it is one that counts requests. Refused: the one that refused with the longest
 * wait. Served: the one with the lowest remaining quota; of equals, the one with the longest reset.
 * The first of the list wins a full tie.
 *
 * `undefined` if no policy can be reported: none of these policies counts requests and has a window.
 * A limit must be sent with a reset.
 */
export function reportedPolicy(state: FieldState): ReportedPolicy | undefined {
  return state.violated.length > 0
    ? mostUrgentRefusal(state, 'requests')
    : mostUrgent(state.policies, 'requests')
}

/** The policy of a unit that binds: of those that refused, by its wait; else by what is left. */
export function bindingPolicy(state: FieldState, unit: string): ReportedPolicy | undefined {
  return mostUrgentRefusal(state, unit) ?? mostUrgent(state.policies, unit)
}

function mostUrgentRefusal(state: FieldState, unit: string): ReportedPolicy | undefined {
  const { policies, violated } = state
  if (violated.length === 0) return undefined
  const refusing = violated.map((i) => policies[i] as ReportedPolicy)
  return mostUrgent(refusing, unit, true)
}

function mostUrgent(
  policies: readonly ReportedPolicy[],
  unit: string,
  refused = false,
): ReportedPolicy | undefined {
  let found: ReportedPolicy | undefined
  for (const policy of policies) {
    if (policy.unit !== unit || windowOf(policy) === undefined) continue
    if (found === undefined || precedes(policy, found, refused)) found = policy
  }
  return found
}

function precedes(policy: ReportedPolicy, other: ReportedPolicy, refused: boolean): boolean {
  const difference = refused ? 0 : remainingUnits(policy) - remainingUnits(other)
  if (difference !== 0) return difference < 0
  return effectiveWindowMs(policy, refused) > effectiveWindowMs(other, refused)
}
