/** The log has an entry for each admitted request, and a decision may have to read all of them. */
export const MAX_LOG_LIMIT = 10_000

/** A larger array is released when the log is empty. Entries. */
const MAX_KEPT = 32

/**
 * Times and costs of admitted requests, oldest first. Requests of one millisecond share an entry:
 * they leave the window together. Expired entries are dropped when there is something new to keep.
 * Plain arrays: as compact as typed arrays, and most logs are too short to pay for those.
 */
export class Log {
  readonly times: number[] = []
  readonly costs: number[] = []
  #head = 0
  #tail = 0
  /** Sum of all costs, expired ones included. */
  total = 0

  get length(): number {
    return this.#tail - this.#head
  }

  /** The time of the last entry; undefined: there is none. */
  get newest(): number | undefined {
    return this.#head === this.#tail ? undefined : this.times[this.#tail - 1]
  }

  time(index: number): number {
    return this.times[this.#head + index] as number
  }

  cost(index: number): number {
    return this.costs[this.#head + index] as number
  }

  /** Sum of the costs of the entries at or before `time`. */
  unitsUntil(time: number): number {
    let units = 0
    for (let i = this.#head; i < this.#tail && (this.times[i] as number) <= time; i += 1)
      units += this.costs[i] as number
    return units
  }

  /** The time of the entry with which those after `time` hold `units`, 1 or more; undefined: they hold fewer. */
  timeOf(units: number, time: number): number | undefined {
    let held = 0
    for (let i = this.#head; i < this.#tail; i += 1) {
      const at = this.times[i] as number
      if (at <= time) continue
      held += this.costs[i] as number
      if (held >= units) return at
    }
    return undefined
  }

  /** Adds an entry behind all others, also if the last one has the same time. */
  push(time: number, cost: number): void {
    this.total += cost
    this.#makeRoom()
    this.times[this.#tail] = time
    this.costs[this.#tail] = cost
    this.#tail += 1
  }

  /** Adds `cost` at a time, in order. */
  add(at: number, cost: number): void {
    const end = this.#endOf(at)
    if (end > this.#head && this.times[end - 1] === at) {
      this.total += cost
      this.costs[end - 1] = (this.costs[end - 1] as number) + cost
    } else if (end === this.#tail) {
      this.push(at, cost)
    } else {
      this.total += cost
      this.times.splice(end, 0, at)
      this.costs.splice(end, 0, cost)
      this.#tail += 1
    }
  }

  /** Takes `units` from the entries at and before `at`, latest first, as far as they hold them. */
  takeBack(at: number, units: number): void {
    const end = this.#endOf(at)
    let first = end
    while (first > this.#head && units > 0) {
      const cost = this.costs[first - 1] as number
      const taken = Math.min(units, cost)
      this.total -= taken
      units -= taken
      if (taken < cost) this.costs[first - 1] = cost - taken
      else first -= 1
    }
    this.times.splice(first, end - first)
    this.costs.splice(first, end - first)
    this.#tail -= end - first
  }

  /** Drops the entries at or before `time`. */
  dropUntil(time: number): void {
    while (this.#head < this.#tail && (this.times[this.#head] as number) <= time) {
      this.total -= this.costs[this.#head] as number
      this.#head += 1
    }
    if (this.#head === this.#tail) this.#startAfresh()
  }

  /** Moves entries that are later than `now`, because a clock has stepped back, to `now`. */
  clampTo(now: number): void {
    for (let i = this.#tail - 1; i >= this.#head && (this.times[i] as number) > now; i -= 1) {
      this.times[i] = now
    }
  }

  /** The place behind the last entry at or before `time`. */
  #endOf(time: number): number {
    // Mostly a request comes after all others.
    if (this.length > 0 && (this.times[this.#tail - 1] as number) <= time) return this.#tail
    let low = this.#head
    let high = this.#tail
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.times[middle] as number) <= time) low = middle + 1
      else high = middle
    }
    return low
  }

  #startAfresh(): void {
    this.#head = this.#tail = 0
    if (this.times.length <= MAX_KEPT) return
    this.times.length = 0
    this.costs.length = 0
  }

  /** Moves the entries to the front once half of the array is unused; otherwise the array grows by itself. */
  #makeRoom(): void {
    const head = this.#head
    const { length } = this
    if (this.#tail < this.times.length || length * 2 > this.times.length) return
    this.times.copyWithin(0, head, this.#tail)
    this.costs.copyWithin(0, head, this.#tail)
    this.#tail = length
    this.#head = 0
  }
}
