import type { CompiledLimit } from '../../algorithms/algorithm.ts'
import type { Charge, DecisionSource, Ledger, StoreResult } from '../store.ts'
import type { LedgerRefusals } from './ledger-refusals.ts'

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
export interface DecidingLedger extends Ledger<'async'> {
  renew(requests: readonly (readonly Charge[])[]): Promise<void>
  isTrusted(charges: readonly Charge[]): boolean
}

/** Answers from remembered refusals if possible, otherwise calls the store. */
export class ResilientLedger implements Ledger<'async'> {
  private readonly deciding: DecidingLedger
  private readonly refusals: LedgerRefusals

  /** @param deciding keeps the charges that it is given */
  constructor(deciding: DecidingLedger, refusals: LedgerRefusals) {
    this.deciding = deciding
    this.refusals = refusals
  }

  consume(charges: readonly Charge[]): Promise<StoreResult> {
    const known = this.refusals.find(charges, () => this.deciding.isTrusted(charges))
    if (known !== undefined) return Promise.resolve(known)
    const kept = copy(charges)
    const note = this.refusals.listen()
    return this.deciding.consume(kept).then((result) => {
      note(kept, result)
      return result
    })
  }

  peek(charges: readonly Charge[]): Promise<StoreResult> {
    return this.deciding.peek(copy(charges))
  }

  settle(charges: readonly Charge[], chargedAt?: number, source?: DecisionSource): Promise<void> {
    const kept = copy(charges)
    this.refusals.settles()
    const keys = kept.map(({ key }) => key)
    return this.refusals.ending(keys, () => this.deciding.settle(kept, chargedAt, source))
  }

  renew(requests: readonly (readonly Charge[])[]): Promise<void> {
    return this.deciding.renew(requests.map(copy))
  }

  block(keys: readonly string[], durationMs: number): Promise<void> {
    return this.refusals.ending(keys, () => this.deciding.block(keys, durationMs))
  }

  reset(keys: readonly string[]): Promise<void> {
    return this.refusals.ending(keys, () => this.deciding.reset(keys))
  }
}

function copy(charges: readonly Charge[]): Charge[] {
  return charges.map(({ key, limit, cost, slot }) => ({ key, limit, cost, slot }))
}
