import type { Machine } from '../machine.ts'
import { SOCKETS, TIMERS, type Timeline } from '../timeline.ts'
import type { PlannedServer } from './load-plan.ts'

/** Comes before everything else that is due at the same time. */
const FIRST = -1

/** What requests take of a process and its database. */
export class ModelServer {
  /** It can do so many times as much as planned. */
  factor = 1
  readonly #timeline: Timeline
  readonly #machine: Machine
  readonly #planned: PlannedServer
  readonly #random: () => number
  #busy = 0
  readonly #waiting: (() => void)[] = []

  constructor(timeline: Timeline, machine: Machine, planned: PlannedServer, random: () => number) {
    this.#timeline = timeline
    this.#machine = machine
    this.#planned = planned
    this.#random = random
  }

  serve(done: () => void): void {
    const { kind, perSecond } = this.#planned
    if (kind === 'computes') this.#compute(1000 / perSecond / this.factor, done)
    else if (kind === 'database') this.#query(done)
    else this.#query(() => this.#compute(500 / perSecond / this.factor, done))
  }

  /** Nothing else of the process runs meanwhile. */
  #compute(ms: number, done: () => void): void {
    this.#machine.stall(ms)
    this.#timeline.at(this.#timeline.now + ms, TIMERS, done, FIRST)
  }

  /** Takes a connection, once one is free. */
  #query(done: () => void): void {
    const { connections, perSecond, varies } = this.#planned
    if (this.#busy === connections) return void this.#waiting.push(() => this.#query(done))
    this.#busy += 1
    const share = varies ? -Math.log(1 - this.#random()) : 1
    const ms = ((1000 * connections) / perSecond / this.factor) * share
    this.#machine.post(ms, SOCKETS, () => {
      this.#busy -= 1
      this.#waiting.shift()?.()
      done()
    })
  }
}
