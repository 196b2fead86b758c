import { createLimiter, type Limiter, type LimiterOptions, type PolicyDecision } from '@sluice/core'
import { PolicyTally } from '../statistics/policy-tally.ts'
import { RunTally } from '../statistics/run-tally.ts'
import type { SharedWindow } from '../statistics/shared-window.ts'
import type { Batch } from './batch.ts'
import { NumberedStore } from './numbered-store.ts'
import type { Run } from './run.ts'
import { termsOf } from './terms.ts'

/** The store knows clients by their numbers, so all have one name. */
const KEY = 'client'

/** Traffic through one policy whose terms are the same for every request: needs no more than client and cost. */
export class LimiterRun implements Run {
  readonly tally: RunTally
  clients: Int32Array = new Int32Array()
  private readonly limiter: Limiter<'sync'>
  private readonly policy: PolicyTally
  private nowMs = 0
  private client = 0

  /**
   * @param demand counts what clients ask for
   * @throws SluiceError for wrong options
   */
  constructor(name: string, options: LimiterOptions<'sync'>, demand: SharedWindow) {
    const store = new NumberedStore(
      () => this.nowMs,
      () => this.client,
    )
    this.limiter = createLimiter({ ...options, store })
    this.tally = new RunTally(name)
    this.policy = new PolicyTally(termsOf(options, 'default', demand.window.windowMs), demand)
    this.tally.policies.push(this.policy)
  }

  play({ length, times, clients, costs }: Batch): void {
    this.clients = clients
    const options = { cost: 1 }
    for (let i = 0; i < length; i += 1) {
      this.nowMs = times[i] as number
      this.client = clients[i] as number
      options.cost = costs[i] as number
      const { allowed, policies } = this.limiter.consume(KEY, options)
      if (allowed) this.tally.admit(this.nowMs, this.client)
      else this.tally.refuse(this.nowMs, this.client)
      this.policy.record(
        i,
        this.nowMs,
        this.client,
        options.cost,
        allowed,
        policies[0] as PolicyDecision,
      )
      this.tally.noteKeys()
    }
  }
}
