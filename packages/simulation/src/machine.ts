import type { Stage } from './stage.ts'
import { IMMEDIATES, type Phase, TIMERS, type Timeline } from './timeline.ts'

/** The wall clock when a simulation begins, ms since the epoch, unless its plan says otherwise. */
export const EPOCH = 1_800_000_000_000

/** A timer of Node, as far as core uses it. */
export interface MachineTimer {
  isCleared: boolean
  ref(): MachineTimer
  unref(): MachineTimer
}

/**
 * What one process runs on: its clocks, timers and random numbers. `core.ts` gives them to core in place of
 * Node's.
 */
export class Machine {
  isDead = false
  /** Whether its application ends in order. */
  isLeaving = false
  /** Whether core has refused a call because too many wait. */
  isOverloaded = false
  /** Whether nothing runs in the background any more. */
  isAtRest = false
  /** What the wall clock is ahead of true time, ms. */
  skewMs = 0
  readonly random: () => number
  /** Each time during which nothing ran: from, to. */
  readonly stalls: { readonly from: number; readonly to: number }[] = []
  /** The charges that core takes in advance. */
  readonly ahead = new WeakSet<object>()
  readonly #stage: Stage
  readonly #timeline: Timeline
  readonly #name: string
  readonly startedAt: number
  #stalledUntil = 0
  readonly #epoch: number

  /** @param epoch the wall clock when the simulation begins, ms */
  constructor(stage: Stage, name: string, random: () => number, epoch = EPOCH) {
    this.#stage = stage
    this.#timeline = stage.timeline
    this.#name = name
    this.#epoch = epoch
    this.random = random
    this.startedAt = stage.timeline.now
  }

  /** Nothing runs for so long, ms, as if the process were frozen or busy. */
  stall(ms: number): void {
    const { now } = this.#timeline
    this.stalls.push({ from: now, to: now + ms })
    this.#stalledUntil = Math.max(this.#stalledUntil, now + ms)
  }

  get isStalled(): boolean {
    return this.#timeline.now < this.#stalledUntil
  }

  /** Runs on this machine after `ms`, unless it has ended. */
  post(ms: number, phase: Phase, act: () => void): void {
    const run = () => {
      if (this.isDead) return
      if (this.isStalled) {
        this.#timeline.at(this.#stalledUntil, phase, run, order)
        return
      }
      try {
        act()
      } catch (error) {
        const text = error instanceof Error ? error.stack : error
        this.#stage.fail('escaped', `${this.#name}: ${text}`)
      }
    }
    const order = this.#timeline.at(this.#timeline.now + ms, phase, run)
  }

  /** Core holds so much of something that has a cap. */
  holds(what: string, count: number, most: number): void {
    if (count > most) this.#stage.fail('cap', `${this.#name} has ${count} ${what} of ${most}`)
  }

  /** Core refuses a call because too many wait: what it was to give back stays charged. */
  overloaded(reason: Error): Error {
    this.isOverloaded = true
    return reason
  }

  // What follows stands in place of Node's: see core.ts.

  /** In place of `Date.now`. */
  readonly now = (): number => Math.floor(this.#epoch + this.#timeline.now + this.skewMs)
  /** In place of `performance.now`. */
  readonly uptime = (): number => this.#timeline.now - this.startedAt

  readonly setTimeout = (act: () => void, ms = 1): MachineTimer => {
    const timer = newTimer()
    this.post(Math.max(1, Math.trunc(ms)), TIMERS, () => {
      if (!timer.isCleared) act()
    })
    return timer
  }

  readonly setInterval = (act: () => void, ms = 1): MachineTimer => {
    const timer = newTimer()
    const next = () =>
      this.post(Math.max(1, Math.trunc(ms)), TIMERS, () => {
        if (timer.isCleared) return
        next()
        act()
      })
    next()
    return timer
  }

  readonly clearTimeout = (timer: MachineTimer | undefined): void => {
    if (timer !== undefined) timer.isCleared = true
  }

  readonly afterTurn = (act: () => void): void => this.post(0, IMMEDIATES, act)

  readonly inBackground = (act: () => void, ms: number) =>
    cancelOf(
      this.setTimeout(() => {
        if (!this.isAtRest) act()
      }, ms),
    )

  readonly random32 = (): number => Math.floor(this.random() * 2 ** 32)
}

/** Knows nothing of the machine: core keeps it until a store is collected, which the machine leads to. */
function cancelOf(timer: MachineTimer): () => void {
  return () => {
    timer.isCleared = true
  }
}

function newTimer(): MachineTimer {
  const timer = { isCleared: false, ref: () => timer, unref: () => timer }
  return timer
}
