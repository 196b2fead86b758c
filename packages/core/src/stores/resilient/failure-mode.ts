import type { CompiledLimit } from '../../algorithms/algorithm.ts'

/** What decides while the store fails. */
export type OnStoreError = 'local' | 'allow' | 'deny'

export interface FailureMode {
  /** The longest that a request waits for the store, ms, 1 … 60,000. */
  readonly deadlineMs: number
  readonly onStoreError: OnStoreError
  /** Whether refusals are remembered. Undefined: only if nothing in this process settles. */
  readonly refusalCache: boolean | undefined
  /** Whether the limiter settles what it has charged. */
  readonly settles: boolean
  /** The share of the limits that this process admits alone, above 0, up to 1. */
  readonly localShare: number
  /** The local share of a quota of the policy with this number, from 0. */
  localLimit(policy: number, limit: CompiledLimit): CompiledLimit
}
