import type { Owner } from '../owner.ts'
import type { PlannedPolicy, PlannedRequest } from '../plan.ts'
import { limitOf } from './account.ts'
import { ROUNDING_MS, stalledMs } from './deadline.ts'

/** A call that waits. Times are ms of the simulation. */
export interface Waiting {
  readonly planned: PlannedRequest
  readonly wait: NonNullable<PlannedRequest['wait']>
  readonly arrivedAt: number
  isAborted: boolean
}

/** Checks how the calls of one process wait: in their order, no longer than they said, and for what is true. */
export class Waits {
  /** The calls that are not over, the oldest first. */
  readonly open = new Set<Waiting>()
  /** Units of those that the store has admitted. */
  admitted = 0
  readonly #owner: Owner
  readonly #policy: PlannedPolicy

  constructor(owner: Owner, policy: PlannedPolicy) {
    this.#owner = owner
    this.#policy = policy
  }

  begin(planned: PlannedRequest, wait: Waiting['wait']): Waiting {
    const waiting = { planned, wait, arrivedAt: this.#owner.world.timeline.now, isAborted: false }
    this.open.add(waiting)
    return waiting
  }

  /** The store, or the process in its place, has admitted it. */
  admit(waiting: Waiting, isOfStore: boolean): void {
    const { planned, wait, isAborted } = waiting
    this.#end(waiting, `admits the wait of ${planned.client} for ${planned.cost}`)
    if (isOfStore) this.admitted += planned.cost
    if (isAborted) this.#fail('an aborted wait is admitted')
    // A turn of a leaky bucket that was taken stays, also if an operator makes the bucket empty.
    if ('maxDelay' in this.#policy) return
    for (const { arrivedAt, planned: other, wait: its } of this.open) {
      const isBefore = arrivedAt < waiting.arrivedAt && its.priority >= wait.priority
      // For a cost above the limit, the store is asked first whether its client has a larger one.
      if (isBefore && other.client === planned.client && other.cost <= this.#full)
        this.#fail(`${planned.client}'s wait of ${arrivedAt} is overtaken`)
    }
  }

  /** @param retryAfterMs how long it would have waited from now on, at least */
  reject(waiting: Waiting, code: string, retryAfterMs: number): void {
    const { planned, wait, arrivedAt, isAborted } = waiting
    const { client, cost } = planned
    this.#end(waiting, `rejects the wait of ${client} for ${cost} (${code}, ${retryAfterMs} ms)`)
    const { now } = this.#owner.world.timeline
    if (code === 'SLUICE_WAIT_TOO_LONG') {
      const leftMs = arrivedAt + (wait.maxMs ?? Infinity) - now
      if (leftMs > ROUNDING_MS && retryAfterMs < leftMs - ROUNDING_MS)
        this.#fail(`${client}'s wait is given up ${leftMs} ms early, for ${retryAfterMs} ms`)
      if (leftMs > ROUNDING_MS && this.#isKnown) this.#checkCertain(waiting, leftMs)
    } else if (code === 'SLUICE_WAIT_NEVER') {
      if (cost <= this.#full) this.#fail(`${cost} of ${this.#full} are never admitted`)
    } else if (code === 'SLUICE_WAIT_FULL') {
      if (2 * this.open.size < MAX_WAITING - 1)
        this.#fail(`${this.open.size} wait, and no more may`)
    } else if (code === 'SLUICE_WAIT_ABORTED') {
      if (!isAborted) this.#fail('a wait is aborted that nobody has aborted')
    } else if (code !== 'SLUICE_WAIT_CLOSED' || !this.#owner.machine.isLeaving) {
      this.#fail(`a wait is rejected by ${code}`)
    }
  }

  /** Whether nothing but calls that wait changes what they wait for, and none of them gives anything back. */
  get #isKnown(): boolean {
    const { faults, application } = this.#owner.world.plan
    return faults.length === 0 && application.queueBan === undefined && !this.#mayGiveBack
  }

  get #mayGiveBack(): boolean {
    return this.#owner.world.plan.requests.some(({ wait }) => wait?.abortsMs !== undefined)
  }

  /** What is given up early could not have been admitted in time, behind those that come before it. */
  #checkCertain({ planned, wait, arrivedAt }: Waiting, leftMs: number): void {
    const { waits, cluster } = this.#owner.world
    const account = waits.of(0, planned.client)
    if (account.inexact !== undefined || account.holdsSlots) return
    const left = account.remaining(
      limitOf(this.#policy),
      cluster.clockOf(planned.client) + Math.floor(leftMs) - 1,
    )
    let ahead = 0
    for (const { planned: other, wait: its, arrivedAt: since } of this.open) {
      const isSooner = its.priority === wait.priority && since <= arrivedAt
      if (other.client === planned.client && (its.priority > wait.priority || isSooner))
        ahead += other.cost
    }
    if (left >= Math.max(1, planned.cost) + ahead && !('maxDelay' in this.#policy))
      this.#fail(`${planned.client}'s wait for ${planned.cost} is given up, ${left} will be left`)
  }

  get #full(): number {
    const policy = this.#policy
    return 'hold' in policy ? policy.concurrent : (policy.burst ?? policy.limit)
  }

  #end(waiting: Waiting, what: string): void {
    const world = this.#owner.world
    world.tell(this.#owner.name, () => what)
    this.open.delete(waiting)
    const { arrivedAt, wait } = waiting
    const { now } = world.timeline
    // The call of the one before, and its own last one. One that is above the limit has asked for its own limit
    // before; what nobody waits for any more is given back before.
    const calls = 2 + Number(waiting.planned.cost > this.#full) + Number(this.#mayGiveBack)
    const lastMs = calls * world.plan.application.deadline
    const mostMs = (wait.maxMs ?? Infinity) + lastMs + ROUNDING_MS
    const lateMs = now - arrivedAt - mostMs - stalledMs(this.#owner.machine, arrivedAt, now)
    if (lateMs > 0) this.#fail(`a wait ends ${lateMs} ms late`)
  }

  #fail(what: string): void {
    this.#owner.world.fail('waiting', `${this.#owner.name}: ${what}`)
  }
}

/** How many may wait in a process: few, so that they are reached. */
export const MAX_WAITING = 12
