/** What is due first at one moment: as in a turn of the event loop. */
export const TIMERS = 0
export const SOCKETS = 1
export const IMMEDIATES = 2
export type Phase = typeof TIMERS | typeof SOCKETS | typeof IMMEDIATES

/** Something that is going to happen. */
interface Due {
  readonly at: number
  readonly phase: Phase
  /** Decides who is first in the same phase of the same moment: the lowest. */
  readonly order: number
  readonly act: () => void
}

/** Turns of Node's event loop that are asked for at once: each costs a fraction of one that is asked for alone. */
const STRANDS = 64

/** The only clock of a simulation: time passes from event to event, and not between them. */
export class Timeline {
  /** ms since the simulation began. */
  now = 0
  /** Events so far. */
  events = 0
  /** What is due first is the last one. */
  readonly #due: Due[] = []
  #orders = 0
  #isStopped = false
  #most = Infinity
  #exceeded = () => {}

  /**
   * @param order its place among the others; an event that is put off keeps its own. Default: behind all others
   * @returns its order
   */
  at(time: number, phase: Phase, act: () => void, order: number = this.#orders++): number {
    const due = this.#due
    const added = { at: Math.max(time, this.now), phase, order, act }
    let from = 0
    let to = due.length
    while (from < to) {
      const middle = (from + to) >> 1
      if (isBefore(added, due[middle] as Due)) from = middle + 1
      else to = middle
    }
    due.splice(from, 0, added)
    return order
  }

  after(ms: number, act: () => void): void {
    this.at(this.now + ms, SOCKETS, act)
  }

  /** Lets everything happen that is due up to a time. Promises settle between any two events. */
  run(until: number): Promise<void> {
    return new Promise((resolve, reject) => {
      let isOver = false
      const step = () => {
        if (isOver) return
        try {
          isOver = !this.#next(until)
          if (isOver) resolve()
          else setImmediate(step)
        } catch (error) {
          isOver = true
          reject(error)
        }
      }
      for (let i = 0; i < STRANDS; i += 1) setImmediate(step)
    })
  }

  /** Calls back at each event after so many. */
  limit(events: number, exceeded: () => void): void {
    this.#most = events
    this.#exceeded = exceeded
  }

  /** Nothing happens any more. */
  stop(): void {
    this.#isStopped = true
  }

  /** @returns whether something was due */
  #next(until: number): boolean {
    const first = this.#due.at(-1)
    if (first === undefined || first.at > until || this.#isStopped) {
      this.now = until
      return false
    }
    this.#due.pop()
    this.now = first.at
    this.events += 1
    if (this.events > this.#most) this.#exceeded()
    first.act()
    return true
  }
}

function isBefore(one: Due, other: Due): boolean {
  if (one.at !== other.at) return one.at < other.at
  return one.phase === other.phase ? one.order < other.order : one.phase < other.phase
}
