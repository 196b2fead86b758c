import { fractionOf } from '@sluice/core/internal'
import { MAX_WAIT_SECONDS } from '../fields/field-state.ts'

/** The shortest wait to which jitter is added, s: below it clients would notice it, for little gain. */
const JITTER_FLOOR = 5

/** The most that jitter adds. Seconds. */
const JITTER_CEILING = 30

/**
 * The wait that a refusal states, ms: 1 to 2147483000, never less than the wait unless
 * that is beyond this ceiling. A wait that is not finite is stated as the window. `Retry-After` is
 * the same in whole seconds, rounded up (RFC 9110 §10.2.3).
 *
 * Jitter spreads the clients of one window, who would otherwise all come back in one second
 * (draft-11 §8.5). It only adds, and it is drawn from the key and the window in which the wait
 * ends: a client that asks again within the wait does not get another draw.
 */
export function retryAfterMs(
  waitMs: number,
  {
    now,
    windowMs,
    jitter,
    seed,
  }: {
    /** Epoch ms, of any clock near the store's. */
    readonly now: number
    /** The window of the policy that is waited for, ms. */
    readonly windowMs: number
    /** Share of the wait that may be added, 0 to 1. */
    readonly jitter: number
    /** The source of the jitter: the limiter's key. */
    readonly seed: string
  },
): number {
  const ms = Math.abs(waitMs) < Number.POSITIVE_INFINITY ? waitMs : windowMs
  const least = Math.max(1, Math.ceil(ms))
  const seconds = Math.ceil(least / 1000)
  if (seconds < JITTER_FLOOR || jitter === 0) return Math.min(least, MAX_WAIT_SECONDS * 1000)
  // Rounded to the nearest: a window that ends on a multiple of its length keeps its index if
  // the clocks of the store and of this process differ by some milliseconds.
  const index = Math.round((now + ms) / windowMs)
  const added = Math.floor(fractionOf(seed, index) * Math.min(seconds * jitter, JITTER_CEILING))
  return Math.min(least + added * 1000, MAX_WAIT_SECONDS * 1000)
}
