/** Entries that a log has room for at first. */
const FEW = 4
/** Room for more than this is given back when the log is empty. */
const MANY = 16

/**
 * Times and costs of admitted requests, oldest first. Requests of one millisecond share an entry:
 * they leave the window together. The arrays grow by doubling; expired entries are dropped when
 * there is something new to keep.
 */
export class Log {
  private times = new Float64Array(FEW)
  private costs = new Float64Array(FEW)
  private head = 0
  private tail = 0
  /** Sum of all costs, expired ones included. */
  total = 0

  get length(): number {
    return this.tail - this.head
  }

  time(index: number): number {
    return this.times[this.head + index] as number
  }

  cost(index: number): number {
    return this.costs[this.head + index] as number
  }

  /** Adds `cost` at `now`, which is not before any entry. */
  append(now: number, cost: number): void {
    this.total += cost
    if (this.length > 0 && this.times[this.tail - 1] === now) {
      this.costs[this.tail - 1] = (this.costs[this.tail - 1] as number) + cost
      return
    }
    if (this.tail === this.times.length) this.makeRoom()
    this.times[this.tail] = now
    this.costs[this.tail] = cost
    this.tail += 1
  }

  /** Inserts `cost` at an earlier time, in order. */
  insert(at: number, cost: number): void {
    this.total += cost
    let index = this.length
    while (index > 0 && this.time(index - 1) > at) index -= 1
    if (index > 0 && this.time(index - 1) === at) {
      this.costs[this.head + index - 1] = this.cost(index - 1) + cost
      return
    }
    if (this.tail === this.times.length) this.makeRoom()
    const place = this.head + index
    this.times.copyWithin(place + 1, place, this.tail)
    this.costs.copyWithin(place + 1, place, this.tail)
    this.times[place] = at
    this.costs[place] = cost
    this.tail += 1
  }

  /** Takes `units` from the entries at and before `at`, latest first, as far as they hold them. */
  takeBack(at: number, units: number): void {
    for (let i = this.tail - 1; i >= this.head && units > 0; i -= 1) {
      if ((this.times[i] as number) > at) continue
      const taken = Math.min(units, this.costs[i] as number)
      this.costs[i] = (this.costs[i] as number) - taken
      this.total -= taken
      units -= taken
    }
    while (this.tail > this.head && this.costs[this.tail - 1] === 0) this.tail -= 1
  }

  /** Drops the entries at or before `time`. */
  dropUntil(time: number): void {
    while (this.head < this.tail && (this.times[this.head] as number) <= time) {
      this.total -= this.costs[this.head] as number
      this.head += 1
    }
    if (this.head === this.tail) this.startAfresh()
  }

  /** Moves entries from after `now`, where a clock has stepped back, to `now`. */
  clampTo(now: number): void {
    for (let i = this.tail - 1; i >= this.head && (this.times[i] as number) > now; i -= 1) {
      this.times[i] = now
    }
  }

  private startAfresh(): void {
    this.head = this.tail = 0
    if (this.times.length <= MANY) return
    this.times = new Float64Array(FEW)
    this.costs = new Float64Array(FEW)
  }

  private makeRoom(): void {
    const room = this.length * 2 > this.times.length ? this.times.length * 2 : this.times.length
    const times = new Float64Array(room)
    const costs = new Float64Array(room)
    times.set(this.times.subarray(this.head, this.tail))
    costs.set(this.costs.subarray(this.head, this.tail))
    this.times = times
    this.costs = costs
    this.tail -= this.head
    this.head = 0
  }
}
