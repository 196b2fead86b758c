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
import type { Requests } from '../../log/requests.ts'
import { Agenda } from '../statistics/agenda.ts'
import { InProgress } from '../statistics/in-progress.ts'
import type { PolicyFigures } from '../statistics/policy-figures.ts'
import { PolicyTally } from '../statistics/policy-tally.ts'
import { RunTally } from '../statistics/run-tally.ts'
import type { SharedWindow } from '../statistics/shared-window.ts'
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
  readonly #policy: PolicyFigures
  readonly #holdsSlots: boolean
  #slot = 0
  readonly #ledger: Ledger<'sync'>
  readonly #requests: readonly [readonly [Charge, ...Charge[]]]
  #nowMs = 0
  #client = 0
  /** The slots of requests are given back when these end. */
  readonly #ends = new Agenda<InUse>((endMs, { client, slot }) => {
    this.#nowMs = endMs
    this.#client = client
    const charges = [{ ...this.#requests[0][0], cost: -1, claim: [slot] }]
    this.#ledger.change({ kind: 'settle', charges })
  })
  /** The request in hand, which the policy counts. */
  readonly #decided = {
    ...{ place: 0, nowMs: 0, client: 0, cost: 0 },
    ...{ admitted: false, delayMs: 0, resetMs: 0, durationMs: 0 },
  }

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
    this.#holdsSlots = policy.holdsSlots
    const summary = summaryOf(policy)
    this.#policy = policy.holdsSlots ? new InProgress(summary) : new PolicyTally(summary, demand)
    this.tally.policies.push(this.#policy)
  }

  play({ length, times, clients, costs, durations }: Requests): void {
    this.clients = clients
    const decided = this.#decided
    const [[charge]] = this.#requests
    for (let i = 0; i < length; i += 1) {
      const nowMs = times[i] as number
      const client = clients[i] as number
      const cost = costs[i] as number
      const durationMs = durations[i] as number
      this.#ends.runUntil(nowMs)
      this.#nowMs = nowMs
      this.#client = client
      charge.cost = cost
      if (this.#holdsSlots) {
        this.#slot += 1
        Object.assign(charge, { cost: 1, claim: [this.#slot] })
      }
      const { admitted, outcomes } = this.#ledger.decide(this.#requests)[0] as StoreResult
      const [outcome, ban] = outcomes as readonly [Outcome, Outcome?]
      const isBanned = ban?.admitted === false
      if (isBanned && ban.counted) this.tally.ban(client)
      if (this.#holdsSlots && admitted)
        this.#ends.add(nowMs + durationMs, { client, slot: this.#slot })
      decided.place = i
      decided.nowMs = nowMs
      decided.client = client
      decided.cost = cost
      decided.admitted = admitted
      decided.delayMs = outcome.delayMs
      decided.resetMs = isBanned ? resetOfBanned(outcome, ban) : outcome.resetMs
      decided.durationMs = durationMs
      this.#policy.count(decided)
      this.tally.count(nowMs, client, admitted)
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
