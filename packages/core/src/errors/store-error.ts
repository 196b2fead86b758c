import type { StoreErrorCode } from './codes.ts'
import { isA } from './is-a.ts'
import { reference } from './reference.ts'
import { textOf } from './thrown.ts'

/**
 * A store operation that failed although its arguments were right: the store is down, slow or
 * contended. A retry may succeed. `cause` is the store's error.
 */
export class StoreError extends Error {
  override readonly name = 'StoreError'
  /** Stable identifier, `SLUICE_…`: safe to compare against, never reworded. */
  readonly code: StoreErrorCode
  /** The operation that failed: `settle`, `block`, `reset`, `transact`. */
  readonly operation: string

  /**
   * @param failure.problem what happened
   * @param failure.advice the present state, or what to do, as a sentence
   * @param failure.cause the thrown error, if any: it is quoted in the message
   */
  constructor(failure: {
    code: StoreErrorCode
    operation: string
    problem: string
    advice: string
    cause?: unknown
  }) {
    const { code, operation, problem, advice, cause } = failure
    const why = cause === undefined ? '' : `: ${reasonOf(cause)}`
    super(
      `${operation}: ${problem}${why}. ${advice} ${reference(code)}`,
      cause === undefined ? {} : { cause },
    )
    this.code = code
    this.operation = operation
  }

  static override [Symbol.hasInstance](value: unknown): boolean {
    // biome-ignore lint/complexity/noThisInStatic: a class that extends this one is asked as itself
    return isA(value, this, StoreError, 'StoreError')
  }
}

/** The message of the cause, without its full stop, since this message adds one. */
function reasonOf(cause: unknown): string {
  const text = cause instanceof Error ? cause.message : textOf(cause)
  return text.replace(/\.$/, '')
}
