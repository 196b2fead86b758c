import type { LogEntry } from './log-entry.ts'
import { Requests } from './requests.ts'

const BUCKET_MS = 1000

/** A line that comes later than this after its place is late, ms. */
export const TOLERANCE_MS = 60_000
/** One bucket for each second that can be open at a time, and some more: a power of 2. */
const BUCKETS = 64
/** Lines that wait for their place, at most: beyond it the oldest second goes on early. */
const CAPACITY = 2 ** 20

/**
 * Sorts lines that are out of order by up to a minute. Of lines with the same time the first
 * stays first. A line that comes later than that takes the newest time there is.
 */
export class ReorderBuffer {
  late = 0
  readonly #emit: (requests: Requests) => void
  readonly #capacity: number
  /** The requests of each second, in the order in which they came. */
  readonly #buckets: readonly Requests[]
  /** Lines that wait for their place. */
  size = 0
  #newestMs = -1
  /** The oldest second that is still open, since the epoch. */
  #oldest = 0
  /** The time of the last line that had to go on early. */
  #lastMs = -1

  /**
   * @param emit called with the requests of a second in order, which it copies; it may not push then
   * @param keepsEntries whether it also keeps the entries of the log
   */
  constructor(emit: (requests: Requests) => void, keepsEntries: boolean, capacity = CAPACITY) {
    this.#emit = emit
    this.#capacity = capacity
    this.#buckets = Array.from({ length: BUCKETS }, () => new Requests(keepsEntries))
  }

  /** @param timeMs the time of the entry, corrected: an integer, from 0 */
  push(timeMs: number, entry: LogEntry): void {
    if (timeMs > this.#newestMs) {
      this.#newestMs = timeMs
      this.#releaseUntil(Math.floor((timeMs - TOLERANCE_MS) / BUCKET_MS))
    }
    const isLate = timeMs < this.#newestMs - TOLERANCE_MS || timeMs < this.#lastMs
    if (isLate) this.late += 1
    const at = isLate ? this.#newestMs : timeMs
    this.#bucket(Math.floor(at / BUCKET_MS)).add(at, entry)
    this.size += 1
    if (this.size > this.#capacity) this.releaseEarly()
  }

  /** Lets everything go on. */
  flush(): void {
    this.#releaseUntil(Math.floor(this.#newestMs / BUCKET_MS) + 1)
  }

  /** Closes all seconds before this one. */
  #releaseUntil(second: number): void {
    const open = Math.min(second, this.#oldest + BUCKETS)
    for (let each = this.#oldest; each < open; each += 1) this.#release(each)
    this.#oldest = Math.max(this.#oldest, second)
  }

  /** Lets the oldest second go on, though lines may still come that belong before it. */
  releaseEarly(): void {
    while (this.#bucket(this.#oldest).length === 0) this.#oldest += 1
    this.#lastMs = this.#release(this.#oldest)
  }

  /** Returns the time of the last line that went on. */
  #release(second: number): number {
    const bucket = this.#bucket(second)
    if (!bucket.isOrdered) bucket.sort()
    const last = bucket.times[bucket.length - 1] as number
    this.#emit(bucket)
    this.size -= bucket.length
    bucket.clear()
    return last
  }

  #bucket(second: number): Requests {
    return this.#buckets[((second % BUCKETS) + BUCKETS) % BUCKETS] as Requests
  }
}
