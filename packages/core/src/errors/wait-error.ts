import type { WaitErrorCode } from './codes.ts'
import { isA } from './is-a.ts'
import { reference } from './reference.ts'

const PROBLEMS: Record<WaitErrorCode, string> = {
  SLUICE_WAIT_TOO_LONG: 'it would have taken longer than maxWait',
  SLUICE_WAIT_NEVER:
    'it can never be admitted: the cost is larger than the limit, or the limit is 0',
  SLUICE_WAIT_FULL: 'too many wait (maxWaiting), in all or for this key',
  SLUICE_WAIT_ABORTED: 'its signal was aborted',
  SLUICE_WAIT_CLOSED: 'the limiter was closed',
}

/** A wait that ended without an admission. Nothing stays charged. */
export class WaitError extends Error {
  override readonly name = 'WaitError'
  /** Stable identifier, `SLUICE_WAIT_…`: safe to compare against, never reworded. */
  readonly code: WaitErrorCode
  /**
   * The least time it would still have to wait, ms, as far as the limiter knows. 0: not known;
   * `Infinity`: it can never be admitted.
   */
  readonly retryAfterMs: number

  /** @param cause the reason of the signal, if that has ended the wait */
  constructor(code: WaitErrorCode, retryAfterMs: number, cause?: unknown) {
    const known = retryAfterMs > 0 && retryAfterMs < Infinity
    const atLeast = known ? `, and would have to wait ${retryAfterMs} ms more at least` : ''
    super(
      `wait: ${PROBLEMS[code]}${atLeast}. ${reference(code)}`,
      cause === undefined ? {} : { cause },
    )
    this.code = code
    this.retryAfterMs = retryAfterMs
  }

  static override [Symbol.hasInstance](value: unknown): boolean {
    // biome-ignore lint/complexity/noThisInStatic: a class that extends this one is asked as itself
    return isA(value, this, WaitError, 'WaitError')
  }
}
