import type { StoreErrorCode } from './codes.ts'
import { reference } from './reference.ts'
import { textOf } from './thrown.ts'

/** An operation that failed, in the one form that every failure of a store has. */
export interface Failure {
  /** Stable identifier, `SLUICE_…`: safe to compare against, never reworded. */
  code: StoreErrorCode
  /** What was attempted: `settle`, `block`, `reset`, `transact`. */
  operation: string
  /** What happened. */
  problem: string
  /** The present state, or what to do, as a sentence. */
  advice: string
  /** What was thrown, if anything: kept as `cause`, and quoted in the message. */
  cause?: unknown
}

/**
 * An operation on a store that failed, although it was asked for correctly: the store is down, late
 * or contended. It may succeed when it is tried again. `cause` is what the store has thrown.
 */
export class StoreError extends Error {
  override readonly name = 'StoreError'
  readonly code: StoreErrorCode
  readonly operation: string

  constructor({ code, operation, problem, advice, cause }: Failure) {
    const why = cause === undefined ? '' : `: ${reasonOf(cause)}`
    super(
      `${operation}: ${problem}${why}. ${advice} ${reference(code)}`,
      cause === undefined ? {} : { cause },
    )
    this.code = code
    this.operation = operation
  }
}

/** What the cause says, without its full stop, since the message adds one. */
function reasonOf(cause: unknown): string {
  const text = cause instanceof Error ? cause.message : textOf(cause)
  return text.replace(/\.$/, '')
}
