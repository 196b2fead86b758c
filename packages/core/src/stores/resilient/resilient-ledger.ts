import type { CompiledLimit } from '../../algorithms/algorithm.ts'
import type { Charge, DecisionSource, Ledger, StoreResult } from '../store.ts'
import type { LedgerRefusals, Note } from './ledger-refusals.ts'

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
  /** That share of a quota of the policy with this number, from 0. */
  localLimit(policy: number, limit: CompiledLimit): CompiledLimit
}

/** A ledger that knows whether its store would be called. */
export interface DecidingLedger extends Omit<Ledger<'async'>, 'consume'> {
  /** @param note called with the result, which it passes on */
  consume(charges: readonly Charge[], note: Note): Promise<StoreResult>
  renew(requests: readonly (readonly Charge[])[]): Promise<void>
  isTrusted(charges: readonly Charge[]): boolean
}

/**
 * Answers from remembered refusals if possible, otherwise calls the store. Keeps the charges that it is
 * given until it has answered.
 */
export class ResilientLedger implements Ledger<'async'> {
  private readonly deciding: DecidingLedger
  private readonly refusals: LedgerRefusals

  constructor(deciding: DecidingLedger, refusals: LedgerRefusals) {
    this.deciding = deciding
    this.refusals = refusals
  }

  consume(charges: readonly Charge[]): Promise<StoreResult> {
    const known = this.refusals.find(charges, this.deciding)
    if (known !== undefined) return Promise.resolve(known)
    return this.deciding.consume(charges, this.refusals.listen(charges))
  }

  peek(charges: readonly Charge[]): Promise<StoreResult> {
    return this.deciding.peek(charges)
  }

  settle(charges: readonly Charge[], chargedAt?: number, source?: DecisionSource): Promise<void> {
    this.refusals.settles()
    const keys = charges.map(({ key }) => key)
    return this.refusals.ending(keys, () => this.deciding.settle(charges, chargedAt, source))
  }

  renew(requests: readonly (readonly Charge[])[]): Promise<void> {
    return this.deciding.renew(requests)
  }

  block(keys: readonly string[], durationMs: number): Promise<void> {
    return this.refusals.ending(keys, () => this.deciding.block(keys, durationMs))
  }

  reset(keys: readonly string[]): Promise<void> {
    return this.refusals.ending(keys, () => this.deciding.reset(keys))
  }
}
