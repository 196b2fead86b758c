import type { Run } from '../run.ts'

/** A call of a limiter about a key, as the store is asked for it. */
interface Called {
  readonly what: string
  hasRun: boolean
}

/** So many calls of a process about a key are known: those that the store has not done by then, it never does. */
const MAX_KNOWN = 1000

/** Checks that the calls of a process about a key reach the store in the order in which they were made. */
export class Order {
  /** The last calls, by process and key. */
  readonly #calls = new Map<string, Called[]>()
  readonly #run: Run
  readonly #isKept: boolean

  /** @param isKept whether the store promises their order */
  constructor(run: Run, isKept: boolean) {
    this.#run = run
    this.#isKept = isKept
  }

  /** A process calls all of these in one turn of its event loop. */
  called(process: string, key: string, what: readonly string[]): void {
    const id = `${process} ${key}`
    const { timeline, troubledUntil } = this.#run
    // What fails is made up for later.
    if (timeline.now <= troubledUntil || !this.#isKept) {
      this.#calls.delete(id)
      return
    }
    const added = what.map((each) => ({ what: each, hasRun: false }))
    this.#calls.set(id, [...(this.#calls.get(id) ?? []), ...added].slice(-MAX_KNOWN))
  }

  /** The store does what was called. Some calls never reach it. */
  ran(process: string, key: string, what: string): void {
    const id = `${process} ${key}`
    const { timeline, troubledUntil, fail } = this.#run
    if (timeline.now <= troubledUntil) this.#calls.delete(id)
    const calls = this.#calls.get(id) ?? []
    const last = calls.findLastIndex(({ hasRun }) => hasRun)
    const isIt = (each: Called) => each.what === what && !each.hasRun
    const next = calls.slice(last + 1).find(isIt) ?? calls.find(isIt)
    if (next === undefined) return
    next.hasRun = true
    if (calls.indexOf(next) < last)
      fail('order', `${process}: ${calls[last]?.what} of ${key} comes before ${what}`)
  }
}
