import { type Charge, type Ledger, Policy, type PolicyOptions } from '@sluice/core/store'
import { PolicyTally } from '../statistics/policy-tally.ts'
import { RunTally } from '../statistics/run-tally.ts'
import type { SharedWindow } from '../statistics/shared-window.ts'
import { BATCH, type Batch } from './batch.ts'
import { NumberedStore } from './numbered-store.ts'
import { summaryOf } from './policy-summary.ts'
import type { Run } from './run.ts'

/**
 * Traffic through one policy with the same limit for every request. Requests go to the store
 * directly: they have no more than a client and a cost, and of a decision it is enough to know
 * whether, when and for how long.
 */
export class LedgerRun implements Run {
  readonly tally: RunTally
  clients: Int32Array = new Int32Array()
  private readonly policy: PolicyTally
  private readonly ledger: Ledger<'sync'>
  private readonly charges: readonly [Charge]
  private nowMs = 0
  private client = 0
  /** By the place in the batch: whether it was admitted, how long it waits, when the quota is whole. */
  private readonly admitted = new Uint8Array(BATCH)
  private readonly delays = new Float64Array(BATCH)
  private readonly resets = new Float64Array(BATCH)

  /**
   * @param demand counts what clients ask for
   * @throws SluiceError for wrong options
   */
  constructor(name: string, options: PolicyOptions, demand: SharedWindow) {
    const store = new NumberedStore(
      () => this.nowMs,
      () => this.client,
    )
    const policy = new Policy('', options)
    const limit = policy.typicalLimit
    this.ledger = store.open([{ name, algorithm: limit.algorithm }])
    this.charges = [{ key: 'client', limit, cost: 1 }]
    this.tally = new RunTally(name)
    this.policy = new PolicyTally(summaryOf(policy), demand)
    this.tally.policies.push(this.policy)
  }

  /** One step after the other for the whole batch: short loops use the CPU caches best. */
  play(batch: Batch): void {
    this.clients = batch.clients
    this.decide(batch)
    this.tally.count(batch, this.admitted)
    this.policy.count(batch, this.admitted, this.delays)
    this.tally.countKeys(this.policy.keys, batch, this.resets)
  }

  private decide({ length, times, clients, costs }: Batch): void {
    const { charges, ledger, admitted, delays, resets } = this
    const [charge] = charges
    for (let i = 0; i < length; i += 1) {
      this.nowMs = times[i] as number
      this.client = clients[i] as number
      charge.cost = costs[i] as number
      const { admitted: isAdmitted, outcomes } = ledger.consume(charges)
      const { delayMs, resetMs } = outcomes[0] as (typeof outcomes)[number]
      admitted[i] = isAdmitted ? 1 : 0
      delays[i] = delayMs
      resets[i] = resetMs
    }
  }
}
