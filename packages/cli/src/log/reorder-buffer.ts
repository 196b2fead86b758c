const BUCKET_MS = 1000

/** The entries of one second of the log, in the order in which they came. */
class Bucket {
  times = new Float64Array(64)
  handles = new Int32Array(64)
  length = 0
  /** True while the times ascend. */
  ordered = true

  push(timeMs: number, handle: number): void {
    const { length } = this
    if (length === this.times.length) this.#grow()
    if (length > 0 && timeMs < (this.times[length - 1] as number)) this.ordered = false
    this.times[length] = timeMs
    this.handles[length] = handle
    this.length = length + 1
  }

  sort(): void {
    const { times, handles, length } = this
    const order = Array.from({ length }, (_, i) => i)
    // Stable: what came first stays first.
    order.sort((a, b) => (times[a] as number) - (times[b] as number))
    this.times = Float64Array.from(order, (i) => times[i] as number)
    this.handles = Int32Array.from(order, (i) => handles[i] as number)
    this.ordered = true
  }

  #grow(): void {
    const { times, handles } = this
    this.times = new Float64Array(times.length * 2)
    this.times.set(times)
    this.handles = new Int32Array(handles.length * 2)
    this.handles.set(handles)
  }
}

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
  readonly #emit: (timeMs: number, handle: number) => void
  readonly #capacity: number
  readonly #buckets = Array.from({ length: BUCKETS }, () => new Bucket())
  /** Lines that wait for their place. */
  size = 0
  #newestMs = -1
  /** The oldest second that is still open, since the epoch. */
  #oldest = 0
  /** The time of the last line that had to go on early. */
  #lastMs = -1

  /** @param emit called with lines in order, at a time when it may not push */
  constructor(emit: (timeMs: number, handle: number) => void, capacity = CAPACITY) {
    this.#emit = emit
    this.#capacity = capacity
  }

  /** @param timeMs an integer, from 0 */
  push(timeMs: number, handle: number): void {
    if (timeMs > this.#newestMs) {
      this.#newestMs = timeMs
      this.#releaseUntil(Math.floor((timeMs - TOLERANCE_MS) / BUCKET_MS))
    }
    const isLate = timeMs < this.#newestMs - TOLERANCE_MS || timeMs < this.#lastMs
    if (isLate) this.late += 1
    const at = isLate ? this.#newestMs : timeMs
    this.#bucket(Math.floor(at / BUCKET_MS)).push(at, handle)
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
    if (!bucket.ordered) bucket.sort()
    const { length, times, handles } = bucket
    for (let i = 0; i < length; i += 1) this.#emit(times[i] as number, handles[i] as number)
    this.size -= length
    bucket.length = 0
    return times[length - 1] as number
  }

  #bucket(second: number): Bucket {
    return this.#buckets[((second % BUCKETS) + BUCKETS) % BUCKETS] as Bucket
  }
}
