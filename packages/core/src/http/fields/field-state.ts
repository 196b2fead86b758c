import { type PolicyText, type ReportedPolicy, windowOf } from './policy-text.ts'
import { MAX_INTEGER } from './structured-fields.ts'

/**
 * The longest wait that a client is sent, in seconds. Beyond 2^31 ms the timers of common
 * clients overflow, and they come back immediately.
 */
export const MAX_WAIT_SECONDS = 2_147_483

/** Everything that the header fields of one response are made of. */
export interface FieldState {
  /** The policies that were evaluated for this request, in the order of the configuration. */
  readonly policies: readonly ReportedPolicy[]
  /** The text of each policy that is the same in every response. */
  readonly texts: readonly PolicyText[]
  /** The indexes of the policies that refused. Empty: the request was served. */
  readonly violated: readonly number[]
  /** Epoch milliseconds. */
  readonly now: number
}

/** Whole units left, 0 to 999999999999999: rounded down, and debt is shown as nothing left. */
export function remainingUnits({ remaining }: ReportedPolicy): number {
  // NaN fails the comparison.
  return remaining >= 1 ? Math.min(Math.floor(remaining), MAX_INTEGER) : 0
}

/**
 * The effective window in ms, finite. On a refusal it is 1 ms to {@link MAX_WAIT_SECONDS}: there
 * is always something to wait for, and Retry-After, which has that ceiling, is never earlier.
 */
export function effectiveWindowMs(policy: ReportedPolicy, refused: boolean): number {
  const ms = finiteMs(policy.effectiveMs, policy)
  if (refused) return Math.min(Math.max(ms, 1), MAX_WAIT_SECONDS * 1000)
  return Math.max(ms, 0)
}

/** The effective window in whole seconds, rounded up; at most 999999999999999. */
export function effectiveWindowSeconds(policy: ReportedPolicy, refused: boolean): number {
  return Math.min(Math.ceil(effectiveWindowMs(policy, refused) / 1000), MAX_INTEGER)
}

/** Until the quota is full again, ms: finite, an integer, and on a refusal no earlier than its wait. */
export function fullAgainMs(policy: ReportedPolicy, refused: boolean): number {
  const ms = finiteMs(policy.resetMs, policy)
  return Math.min(
    Math.ceil(Math.max(ms, refused ? effectiveWindowMs(policy, true) : 0)),
    MAX_INTEGER,
  )
}

/** The policy with the longest wait, of those that refused; the first of equals. Undefined: none refused. */
export function longestWait({ policies, violated }: FieldState): number | undefined {
  let longest = violated[0]
  for (const i of violated) {
    if (waitOf(policies, i) > waitOf(policies, longest as number)) longest = i
  }
  return longest
}

function waitOf(policies: readonly ReportedPolicy[], i: number): number {
  return effectiveWindowMs(policies[i] as ReportedPolicy, true)
}

/** A time that never comes is reported as the policy's window. */
function finiteMs(ms: number, policy: ReportedPolicy): number {
  return Math.abs(ms) < Number.POSITIVE_INFINITY ? ms : (windowOf(policy) ?? 0)
}
