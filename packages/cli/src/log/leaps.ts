import { LogEntry } from './log-entry.ts'
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
  readonly #emit: (timeMs: number, entry: LogEntry) => void
  /** The latest time of the accepted lines; -1: there is none yet. */
  #newestMs = -1
  /** Lines that wait, in the order in which they came. */
  readonly #waiting: LogEntry[] = []

  /** @param emit called with the time of each entry, corrected */
  constructor(emit: (timeMs: number, entry: LogEntry) => void) {
    this.#emit = emit
  }

  push(entry: LogEntry): void {
    if (this.#waiting.length === 0 && !this.#leaps(entry.time)) {
      this.#accept(entry)
      return
    }
    // The reader may use the entry again.
    this.#waiting.push(Object.assign(new LogEntry(), entry))
    this.#release(LOOKAHEAD)
  }

  /** Lets everything through: no further lines come that could decide. */
  flush(): void {
    this.#release(0)
  }

  /** @param lookahead how many later lines a line waits for */
  #release(lookahead: number): void {
    for (let [first] = this.#waiting; first !== undefined; [first] = this.#waiting) {
      const leaps = this.#leaps(first.time)
      if (leaps && this.#waiting.length <= lookahead) return
      this.#waiting.shift()
      const median = leaps ? medianOf(this.#waiting) : undefined
      if (median === undefined || first.time <= median + TOLERANCE_MS) this.#accept(first)
      else this.#correct(first, median)
    }
  }

  #leaps(timeMs: number): boolean {
    return this.#newestMs < 0 || timeMs > this.#newestMs + TOLERANCE_MS
  }

  #accept(entry: LogEntry): void {
    this.#newestMs = Math.max(this.#newestMs, entry.time)
    this.#emit(entry.time, entry)
  }

  #correct(entry: LogEntry, median: number): void {
    this.early += 1
    // Before any other line: the time of the next line that will be accepted.
    const next = this.#waiting.find(({ time }) => time <= median + TOLERANCE_MS) as LogEntry
    this.#emit(this.#newestMs < 0 ? next.time : this.#newestMs, entry)
  }
}

/** The time in the middle, the lower one of two; undefined of none. */
function medianOf(entries: readonly LogEntry[]): number | undefined {
  const times = entries.map(({ time }) => time).sort((one, other) => one - other)
  return times[Math.floor((times.length - 1) / 2)]
}
