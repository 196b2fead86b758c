import { type PolicyText, type ReportedPolicy, windowOf } from './policy-texts.ts'
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
 * The effective window in ms, finite: one that never passes is reported as the policy's window. On a refusal it is 1 ms to {@link MAX_WAIT_SECONDS}: there
 * is always something to wait for, and Retry-After, which has that ceiling, is never earlier.
 */
export function effectiveWindowMs(policy: ReportedPolicy, refused: boolean): number {
  const { effectiveMs } = policy
  const ms = Math.abs(effectiveMs) < Infinity ? effectiveMs : (windowOf(policy) ?? 0)
  if (refused) return Math.min(Math.max(ms, 1), MAX_WAIT_SECONDS * 1000)
  return Math.max(ms, 0)
}

/** The effective window in whole seconds, rounded up; at most 999999999999999. */
export function effectiveWindowSeconds(policy: ReportedPolicy, refused: boolean): number {
  return Math.min(Math.ceil(effectiveWindowMs(policy, refused) / 1000), MAX_INTEGER)
}

/** Until the quota is full again, ms: finite, an integer, and on a refusal no earlier than its wait. */
export function fullAgainMs(policy: ReportedPolicy, refused: boolean): number {
  const { resetMs } = policy
  const ms = Math.abs(resetMs) < Infinity ? resetMs : (windowOf(policy) ?? 0)
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
