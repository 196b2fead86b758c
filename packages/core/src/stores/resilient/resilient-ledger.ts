import type { Charge, DecisionSource, Ledger, StoreResult } from '../store.ts'
import type { GuardedLedger } from './guarded-ledger.ts'
import type { LedgerRefusals } from './ledger-refusals.ts'
import type { SplitLedger } from './split-ledger.ts'

/**
 * Answers from remembered refusals if possible, otherwise calls the store. Keeps the charges that it is
 * given until it has answered.
 */
export class ResilientLedger implements Ledger<'async'> {
  private readonly deciding: GuardedLedger | SplitLedger
  private readonly refusals: LedgerRefusals

  constructor(deciding: GuardedLedger | SplitLedger, refusals: LedgerRefusals) {
    this.deciding = deciding
    this.refusals = refusals
  }

  consume(charges: readonly Charge[]): Promise<StoreResult> {
    const known = this.refusals.find(charges, this.deciding)
    if (known !== undefined) return Promise.resolve(known)
    return this.deciding.consume(charges, this.refusals.learner(charges))
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

  block(key: string, durationMs: number): Promise<void> {
    return this.refusals.ending([key], () => this.deciding.block(key, durationMs))
  }

  reset(key: string): Promise<void> {
    return this.refusals.ending([key], () => this.deciding.reset(key))
  }
}
