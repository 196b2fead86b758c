import { TOLERANCE_MS } from './reorder-buffer.ts'

/** How many later lines decide whether a line comes from the future. */
const LOOKAHEAD = 64

/**
 * Lets lines through, but for those from the future: a line that leaps ahead by more than a minute
 * waits until the 64 lines after it show whether the log continues from there. If most of them are
 * more than a minute before it, its clock was wrong, and it gets the time of the line before it:
 * otherwise all lines that follow would be late.
 */
export class Leaps {
  /** Lines from the future. */
  early = 0
  readonly #emit: (timeMs: number, handle: number) => void
  /** The latest time of the accepted lines; -1: there is none yet. */
  #newestMs = -1
  /** Lines that wait, in the order in which they came. */
  readonly #times: number[] = []
  readonly #handles: number[] = []

  constructor(emit: (timeMs: number, handle: number) => void) {
    this.#emit = emit
  }

  push(timeMs: number, handle: number): void {
    if (this.#times.length === 0 && !this.#leaps(timeMs)) {
      this.#accept(timeMs, handle)
      return
    }
    this.#times.push(timeMs)
    this.#handles.push(handle)
    this.#release(LOOKAHEAD)
  }

  /** Lets everything through: no further lines come that could decide. */
  flush(): void {
    this.#release(0)
  }

  /** @param lookahead how many later lines a line waits for */
  #release(lookahead: number): void {
    while (this.#times.length > 0) {
      if (this.#leaps(this.#times[0] as number) && this.#times.length <= lookahead) return
      const timeMs = this.#times.shift() as number
      const handle = this.#handles.shift() as number
      const median = this.#leaps(timeMs) ? medianOf(this.#times) : undefined
      if (median === undefined || timeMs <= median + TOLERANCE_MS) this.#accept(timeMs, handle)
      else this.#correct(handle, median)
    }
  }

  #leaps(timeMs: number): boolean {
    return this.#newestMs < 0 || timeMs > this.#newestMs + TOLERANCE_MS
  }

  #accept(timeMs: number, handle: number): void {
    this.#newestMs = Math.max(this.#newestMs, timeMs)
    this.#emit(timeMs, handle)
  }

  #correct(handle: number, median: number): void {
    this.early += 1
    // Before any other line: the time of the next line that will be accepted.
    const next = this.#times.find((timeMs) => timeMs <= median + TOLERANCE_MS) as number
    this.#emit(this.#newestMs < 0 ? next : this.#newestMs, handle)
  }
}

/** The lower one of two; undefined of none. */
function medianOf(times: readonly number[]): number | undefined {
  return times.toSorted((one, other) => one - other)[Math.floor((times.length - 1) / 2)]
}
