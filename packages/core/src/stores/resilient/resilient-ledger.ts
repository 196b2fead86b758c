import type { Quota } from '../../algorithms/algorithm.ts'
import type { Charge, Ledger, Ruling, Source } from '../store.ts'
import { Refusals } from './refusals.ts'

/** What decides while the store can't. */
export type OnStoreError = 'local' | 'allow' | 'deny'

export interface Stance {
  /** The longest that a request waits for the store, ms, 1 … 60,000. */
  readonly deadlineMs: number
  readonly onStoreError: OnStoreError
  /** Whether refusals are remembered until they end. */
  readonly refusalCache: boolean
  /** The share of the limits that this process admits alone, above 0, up to 1. */
  readonly localShare: number
  /** That share of a quota of the policy with this number, from 0. */
  localQuota(policy: number, quota: Quota): Quota
}

/** Answers for a store that has refused a client already, and asks it else. */
export class ResilientLedger implements Ledger<'async'> {
  private readonly deciding: Ledger<'async'>
  private readonly refusals: Refusals
  private readonly remembers: boolean

  /**
   * @param deciding keeps the charges that it is given
   * @param clock see `Store.clock`
   */
  constructor(deciding: Ledger<'async'>, remembers: boolean, clock: (() => number) | undefined) {
    this.deciding = deciding
    this.remembers = remembers
    this.refusals = new Refusals(clock ?? (() => performance.now()))
  }

  consume(charges: readonly Charge[]): Promise<Ruling> {
    const known = this.refusals.find(charges)
    if (known !== undefined) return Promise.resolve(known)
    const kept = copy(charges)
    if (!this.remembers) return this.deciding.consume(kept)
    const note = this.refusals.listen()
    return this.deciding.consume(kept).then((ruling) => {
      if (ruling.source === 'store') note(kept, ruling)
      return ruling
    })
  }

  peek(charges: readonly Charge[]): Promise<Ruling> {
    return this.deciding.peek(copy(charges))
  }

  settle(charges: readonly Charge[], chargedAt?: number, source?: Source): Promise<void> {
    this.refusals.clear()
    return this.deciding.settle(copy(charges), chargedAt, source)
  }

  block(keys: readonly string[], durationMs: number): Promise<void> {
    this.refusals.clear()
    return this.deciding.block(keys, durationMs)
  }

  reset(keys: readonly string[]): Promise<void> {
    this.refusals.clear()
    return this.deciding.reset(keys)
  }
}

function copy(charges: readonly Charge[]): Charge[] {
  return charges.map(({ key, quota, cost }) => ({ key, quota, cost }))
}
