import { MAX_INTEGER } from './structured-fields.ts'
import type { WirePolicy } from './wire-policy.ts'

/**
 * The longest wait that a client is sent, in seconds. Beyond 2^31 ms the timers of common
 * clients overflow, and they come back immediately.
 */
export const MAX_WAIT_SECONDS = 2_147_483

/** The state of one policy after a decision. */
export interface WireItem {
  readonly policy: WirePolicy
  /** Units left, as the limiter knows it: negative (in debt) and fractional values are allowed. */
  readonly remaining: number
  /**
   * The effective window, ms: what becomes `t` and the reset. When the item refused, the wait.
   * `Infinity` (it never passes) is reported as the policy's window.
   *
   * After jitter the limiter sets this to Retry-After × 1000 on the item with the longest wait, so
   * that both say the same.
   */
  effectiveMs: number
  /** Until the quota is whole again, ms. */
  readonly resetMs: number
}

/** Everything that the header fields of one response are made of. */
export interface WireState {
  /** The policies that were evaluated for this request, in the order of the configuration. */
  readonly items: readonly WireItem[]
  /** Those of `items` that refused. Empty: the request was served. */
  readonly violated: readonly WireItem[]
  /** Epoch milliseconds. */
  readonly now: number
}

/** Whole units left, 0 to 999999999999999: rounded down, and debt is shown as nothing left. */
export function wireRemaining(item: WireItem): number {
  // NaN fails the comparison.
  return item.remaining >= 1 ? Math.min(Math.floor(item.remaining), MAX_INTEGER) : 0
}

/**
 * The effective window in ms, finite. On a refusal it is 1 ms to {@link MAX_WAIT_SECONDS}: there
 * is always something to wait for, and Retry-After, which has that ceiling, is never earlier.
 */
export function wireMs(item: WireItem, refused: boolean): number {
  const known = Math.abs(item.effectiveMs) < Number.POSITIVE_INFINITY
  const ms = known ? item.effectiveMs : (item.policy.windowMs ?? 0)
  if (refused) return Math.min(Math.max(ms, 1), MAX_WAIT_SECONDS * 1000)
  return Math.max(ms, 0)
}

/**
 * Until the quota is whole again, ms: finite, an integer, and on a refusal no earlier than its wait.
 */
export function wireResetMs(item: WireItem, refused: boolean): number {
  const known = Math.abs(item.resetMs) < Number.POSITIVE_INFINITY
  const ms = known ? item.resetMs : (item.policy.windowMs ?? 0)
  return Math.min(Math.ceil(Math.max(ms, refused ? wireMs(item, true) : 0)), MAX_INTEGER)
}

/** The effective window in whole seconds, rounded up; at most 999999999999999. */
export function wireSeconds(item: WireItem, refused: boolean): number {
  return Math.min(Math.ceil(wireMs(item, refused) / 1000), MAX_INTEGER)
}

/** The one with the longest wait, of the items that refused; the first of equals. */
export function longestWait(violated: readonly WireItem[]): WireItem | undefined {
  let longest: WireItem | undefined
  for (const item of violated) {
    if (longest === undefined || wireMs(item, true) > wireMs(longest, true)) longest = item
  }
  return longest
}
