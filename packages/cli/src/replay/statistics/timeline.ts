const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** Each holds a whole number of the one before it, so that steps can be joined. */
const STEPS_MS = [
  SECOND,
  5 * SECOND,
  15 * SECOND,
  MINUTE,
  5 * MINUTE,
  15 * MINUTE,
  HOUR,
  6 * HOUR,
  DAY,
  7 * DAY,
  28 * DAY,
  364 * DAY,
  3640 * DAY,
  36_400 * DAY,
  364_000 * DAY,
]

/** The most steps that a timeline has. */
export const MOST_STEPS = 240

/**
 * Counts over the log's time, in steps of one length: the shortest of which no more than 240 are
 * needed. Steps begin at whole multiples of their length since the epoch.
 */
export class TimelineCounts {
  stepMs = SECOND
  readonly #series: number
  /** The number of the first step, counted from the epoch. */
  #first = -1
  #steps = 0
  /** The span of the step last counted in, which saves a division. */
  #beginMs = 0
  #endMs = -1
  readonly #counts: Float64Array

  /** @param series counted side by side */
  constructor(series: number) {
    this.#series = series
    this.#counts = new Float64Array(series * MOST_STEPS)
  }

  /** Ms since the epoch. */
  get startMs(): number {
    return Math.max(0, this.#first) * this.stepMs
  }

  /** @param timeMs not before any that was counted; all series of one moment are counted together */
  enter(timeMs: number): void {
    if (timeMs >= this.#beginMs && timeMs < this.#endMs) return
    if (this.#first < 0) this.#first = Math.floor(timeMs / this.stepMs)
    while (Math.floor(timeMs / this.stepMs) - this.#first >= MOST_STEPS) this.#join()
    const step = Math.floor(timeMs / this.stepMs)
    this.#steps = step - this.#first + 1
    this.#beginMs = step * this.stepMs
    this.#endMs = this.#beginMs + this.stepMs
  }

  /** Counts one in the step that was entered last. */
  count(series: number): void {
    const place = series * MOST_STEPS + this.#steps - 1
    this.#counts[place] = (this.#counts[place] as number) + 1
  }

  of(series: number): number[] {
    return Array.from(this.#counts.subarray(series * MOST_STEPS, series * MOST_STEPS + this.#steps))
  }

  #join(): void {
    const longer = STEPS_MS[STEPS_MS.indexOf(this.stepMs) + 1] as number
    const ratio = longer / this.stepMs
    const first = Math.floor(this.#first / ratio)
    for (let series = 0; series < this.#series; series += 1) {
      const counts = this.of(series)
      const from = series * MOST_STEPS
      this.#counts.fill(0, from, from + MOST_STEPS)
      counts.forEach((count, i) => {
        const place = from + Math.floor((this.#first + i) / ratio) - first
        this.#counts[place] = (this.#counts[place] as number) + count
      })
    }
    this.#first = first
    this.#steps = 1
    this.stepMs = longer
  }
}
