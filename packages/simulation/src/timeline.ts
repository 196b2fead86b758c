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
  /** A binary heap. */
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
    let i = due.push(added) - 1
    while (i > 0) {
      const parent = (i - 1) >> 1
      if (!isBefore(added, due[parent] as Due)) break
      due[i] = due[parent] as Due
      i = parent
    }
    due[i] = added
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
    const due = this.#due
    const first = due[0]
    if (first === undefined || first.at > until || this.#isStopped) {
      this.now = until
      return false
    }
    const last = due.pop() as Due
    if (due.length > 0) this.#sink(last)
    this.now = first.at
    this.events += 1
    if (this.events > this.#most) this.#exceeded()
    first.act()
    return true
  }

  #sink(last: Due): void {
    const due = this.#due
    let i = 0
    for (let child = 1; child < due.length; child = 2 * i + 1) {
      const right = due[child + 1]
      if (right !== undefined && isBefore(right, due[child] as Due)) child += 1
      if (!isBefore(due[child] as Due, last)) break
      due[i] = due[child] as Due
      i = child
    }
    due[i] = last
  }
}

function isBefore(one: Due, other: Due): boolean {
  if (one.at !== other.at) return one.at < other.at
  return one.phase === other.phase ? one.order < other.order : one.phase < other.phase
}
