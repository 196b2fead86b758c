import {
  type BanOptions,
  type Charge,
  compileBan,
  type Ledger,
  type Outcome,
  Policy,
  type PolicyOptions,
  type StoreResult,
} from '@sluice/core/store'
import { InProgress } from '../statistics/in-progress.ts'
import { PolicyTally } from '../statistics/policy-tally.ts'
import { RunTally } from '../statistics/run-tally.ts'
import type { SharedWindow } from '../statistics/shared-window.ts'
import { BATCH, type Batch } from './batch.ts'
import { NumberedStore } from './numbered-store.ts'
import { summaryOf } from './policy-summary.ts'
import type { Run } from './run.ts'
import { SlotsInUse } from './slots-in-use.ts'

/**
 * Traffic through one policy with the same limit for every request. Requests go to the store
 * directly: they have no more than a client and a cost, and of a decision it is enough to know
 * whether, when and for how long.
 */
export class LedgerRun implements Run {
  readonly tally: RunTally
  clients: Int32Array = new Int32Array()
  readonly #policy: PolicyTally | InProgress
  /** Undefined unless the policy has `concurrent`. */
  readonly #inUse: SlotsInUse<InUse> | undefined
  #slot = 0
  readonly #ledger: Ledger<'sync'>
  readonly #requests: readonly [readonly [Charge, ...Charge[]]]
  readonly #demand: SharedWindow
  #nowMs = 0
  #client = 0
  /** Whether a ban began with each request of the batch: 1 if it did. */
  readonly #bans = new Uint8Array(BATCH)
  /** Whether each request of the batch was admitted, how long it waits, and when its quota is full, ms. */
  readonly #admitted = new Uint8Array(BATCH)
  readonly #delays = new Float64Array(BATCH)
  readonly #resets = new Float64Array(BATCH)

  /**
   * @param demand counts what clients ask for
   * @throws SluiceError for wrong options
   */
  constructor(
    name: string,
    options: PolicyOptions,
    demand: SharedWindow,
    banOptions?: BanOptions | undefined,
  ) {
    const store = new NumberedStore(
      () => this.#nowMs,
      () => this.#client,
    )
    const policy = new Policy('', options)
    const limit = policy.anyLimit()
    const ban = banOptions && compileBan(banOptions, { prefix: name, quota: name }, false)
    this.#ledger = store.open([{ name, algorithm: limit.algorithm }, ...(ban ? [ban] : [])])
    const charge = { key: 'client', limit, cost: 1 }
    this.#requests = [[charge, ...(ban ? [{ key: 'client', limit: ban.limit, cost: 1 }] : [])]]
    this.tally = new RunTally(name)
    this.#demand = demand
    this.#inUse = policy.holdsSlots ? new SlotsInUse() : undefined
    const summary = summaryOf(policy)
    this.#policy = policy.holdsSlots ? new InProgress(summary) : new PolicyTally(summary, demand)
    this.tally.policies.push(this.#policy)
  }

  /** Plays a batch. Each step runs for the whole batch: short loops use the CPU caches best. */
  play(batch: Batch): void {
    this.clients = batch.clients
    this.#decide(batch)
    this.tally.count(batch, this.#admitted, this.#bans)
    if (this.#policy instanceof PolicyTally) {
      this.#policy.count(batch, this.#admitted, this.#delays)
    } else {
      this.#policy.count(batch, this.#admitted, this.#resets)
      this.#ask(batch)
    }
    this.tally.countKeys(this.#policy.keys, batch, this.#resets)
  }

  #decide({ length, times, clients, costs, durations }: Batch): void {
    const [[charge]] = this.#requests
    for (let i = 0; i < length; i += 1) {
      const nowMs = times[i] as number
      this.#giveBack(nowMs)
      this.#nowMs = nowMs
      this.#client = clients[i] as number
      charge.cost = costs[i] as number
      if (this.#inUse !== undefined) {
        this.#slot += 1
        Object.assign(charge, { cost: 1, claim: [this.#slot] })
      }
      const { admitted: isAdmitted, outcomes } = this.#ledger.decide(
        this.#requests,
      )[0] as StoreResult
      const [outcome, ban] = outcomes as readonly [Outcome, Outcome?]
      const isBanned = ban?.admitted === false
      this.#bans[i] = isBanned && ban.counted ? 1 : 0
      this.#admitted[i] = isAdmitted ? 1 : 0
      if (isAdmitted) {
        const client = this.#client
        const slot = this.#slot
        this.#inUse?.add(nowMs + (durations[i] as number), { client, slot })
      }
      this.#delays[i] = outcome.delayMs
      this.#resets[i] = isBanned ? resetOfBanned(outcome, ban) : outcome.resetMs
    }
  }

  /** Requests in progress have no window: what clients ask for is counted all the same. */
  #ask({ length, clients, costs }: Batch): void {
    for (let i = 0; i < length; i += 1) {
      this.#demand.mark(i, clients[i] as number, costs[i] as number)
    }
  }

  /** Gives back the slots of requests that have ended. */
  #giveBack(nowMs: number): void {
    for (;;) {
      const ended = this.#inUse?.next(nowMs)
      if (ended === undefined) return
      const { client, slot } = ended.request
      this.#nowMs = ended.endMs
      this.#client = client
      const charges = [{ ...this.#requests[0][0], cost: -1, claim: [slot] }]
      this.#ledger.change({ kind: 'settle', charges })
    }
  }
}

/** The time until a banned client's quota is full, ms, as a decision has it: at least until the ban ends. */
function resetOfBanned({ admitted, resetMs }: Outcome, ban: Outcome): number {
  return Math.max(admitted ? 0 : resetMs, ban.retryAfterMs)
}

interface InUse {
  readonly client: number
  readonly slot: number
}
