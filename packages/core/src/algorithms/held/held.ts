/** The most slots of a key in use at the same time. */
export const MAX_CONCURRENT = 1000

/** The most reservations of a key at the same time. One owner has no more of them than are free. */
export const MAX_RESERVATIONS = 2000

/**
 * How long a settlement that may be made again is remembered at most, ms: longer than it is repeated, which is an hour.
 */
export const REMEMBERED_MS = 3_900_000

/** The most settlements of a key that are remembered: a further one is made, but would be made again. */
export const MAX_REMEMBERED = 2000

/** In place of the owner, of what is held to remember a settlement. */
export const SETTLED = Number.MAX_SAFE_INTEGER

/**
 * How long a refused client waits before it asks again, ms: nobody can know when something will be given back.
 */
export const SLOT_WAIT_MS = 1000

/** The name of the sorted set in Redis ends with this, behind the name of its key: no name of a policy has a tab. */
export const HELD_SUFFIX = '\theld'

/** One call drops at most this many ended entries: more would take longer than 2 ms. */
export const MOST_ENDED = 1000

/** Numbers at the start of each entry: until when it is held (ms), its slot, for how long it is held (ms). */
const SLOT_NUMBERS = 3
/** Entries that there is room for at first. */
const FIRST = 2

/**
 * The slots or reservations of one key, in one array of numbers: the next to end first, those that end together by their
 * slots. Each has its own end, since versions of an application may differ in how long they hold one. It has further
 * numbers, as many as its algorithm gives it, the last of which is its owner.
 */
export class Held {
  /** Numbers of each entry, one entry after the other, with room behind them. */
  #numbers: Float64Array
  readonly #width: number
  length = 0
  /** The last time at which something was held, ms: if `now` is earlier, the clock has stepped back. */
  clock: number

  /** @param extras how many numbers an entry has besides its own */
  constructor(extras: number, clock = 0, numbers?: Float64Array) {
    this.#width = SLOT_NUMBERS + extras
    this.clock = clock
    this.#numbers = numbers ?? new Float64Array(FIRST * this.#width)
  }

  /** The entries that {@link all} returned. */
  static from(extras: number, clock: number, numbers: Float64Array): Held {
    const held = new Held(extras, clock, numbers)
    held.length = Math.floor(numbers.length / (SLOT_NUMBERS + extras))
    return held
  }

  /** How many numbers an entry has besides its own. */
  get extras(): number {
    return this.#width - SLOT_NUMBERS
  }

  /** The numbers of all entries. */
  all(): Float64Array {
    return this.#numbers.subarray(0, this.length * this.#width)
  }

  until(index: number): number {
    return this.#numbers[index * this.#width] as number
  }

  slot(index: number): number {
    return this.#numbers[index * this.#width + 1] as number
  }

  extra(index: number, place: number): number {
    return this.#numbers[index * this.#width + SLOT_NUMBERS + place] as number
  }

  /** How many entries end at `time` or before. */
  endedAt(time: number): number {
    return this.length === 0 || this.until(0) > time ? 0 : this.#placeOf(time, Infinity)
  }

  /** When the last entry ends, ms; `now` if there is none. After the clock has stepped back, each is held as of `now`. */
  lastEnd(now: number): number {
    if (this.clock <= now)
      return this.length === 0 ? now : Math.max(now, this.until(this.length - 1))
    let last = now
    for (let i = 0; i < this.length; i += 1) last = Math.max(last, this.#endAsOf(i, now))
    return last
  }

  /** How many entries have this owner. */
  countOf(owner: number): number {
    let count = 0
    for (let at = this.#width - 1; at < this.length * this.#width; at += this.#width)
      if (this.#numbers[at] === owner) count += 1
    return count
  }

  /** The first entries that have ended at `now`, so many at most, and a copy without them. Undefined: there are none. */
  apart(now: number, most: number): { ended: Held; others: Held } | undefined {
    const count = Math.min(this.endedAt(now), most)
    if (count === 0) return undefined
    const { extras, clock } = this
    const ended = Held.from(extras, clock, this.all().subarray(0, count * this.#width))
    return { ended, others: Held.from(extras, clock, this.all().slice(count * this.#width)) }
  }

  dropEnded(now: number): void {
    const ended = this.endedAt(now)
    if (ended === 0) return
    this.#numbers.copyWithin(0, ended * this.#width, this.length * this.#width)
    this.#shorten(this.length - ended)
  }

  /** After the clock has stepped back: each is held as of `now`, and no longer. */
  holdAsOf(now: number): void {
    if (this.clock <= now) return
    const before = this.all().slice()
    this.clock = now
    this.length = 0
    for (let from = 0; from < before.length; from += this.#width) {
      const entry = before.subarray(from, from + this.#width)
      entry[0] = Math.min(entry[0] as number, now + (entry[2] as number))
      this.#insert(entry)
    }
  }

  /** Holds an entry from `at` on. */
  add(at: number, slot: number, holdMs: number, extras: readonly number[] = []): void {
    this.#insert([at + holdMs, slot, holdMs, ...extras])
    if (at > this.clock) this.clock = at
  }

  /** Holds the entries of these slots from `at` on, those that there are. */
  renew(at: number, slots: readonly number[], holdMs: number): void {
    for (const [slot, extras] of this.take(slots)) this.add(at, slot, holdMs, extras)
  }

  /** Takes the entries of these slots out. Returns the extras of each: the first, if a store was sent one twice. */
  take(slots: readonly number[]): ReadonlyMap<number, readonly number[]> {
    const taken = new Map<number, readonly number[]>()
    const wanted = slots.length === 1 ? undefined : new Set(slots)
    const width = this.#width
    const { length } = this
    let [kept, from] = [0, 0]
    for (let i = 0; i <= length; i += 1) {
      const slot = this.slot(i)
      if (i < length && !(wanted === undefined ? slot === slots[0] : wanted.has(slot))) continue
      if (i < length && !taken.has(slot)) {
        const extras = this.#numbers.subarray(i * width + SLOT_NUMBERS, (i + 1) * width)
        taken.set(slot, Array.from(extras))
      }
      if (kept < from) this.#numbers.copyWithin(kept * width, from * width, i * width)
      kept += i - from
      from = i + 1
    }
    this.#shorten(kept)
    return taken
  }

  #insert(entry: ArrayLike<number>): void {
    const width = this.#width
    if ((this.length + 1) * width > this.#numbers.length) this.#grow()
    const from = this.#placeOf(entry[0] as number, entry[1] as number) * width
    this.#numbers.copyWithin(from + width, from, this.length * width)
    this.#numbers.set(entry, from)
    this.length += 1
  }

  /** How many entries come before one of this end and slot. */
  #placeOf(until: number, slot: number): number {
    let [low, high] = [0, this.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      const end = this.until(middle)
      if (end < until || (end === until && this.slot(middle) < slot)) low = middle + 1
      else high = middle
    }
    return low
  }

  #endAsOf(index: number, now: number): number {
    const holdMs = this.#numbers[index * this.#width + 2] as number
    return Math.min(this.until(index), now + holdMs)
  }

  #shorten(length: number): void {
    const numbers = this.#numbers
    this.length = length
    if (length === 0 && numbers.length > 16 * FIRST * this.#width)
      this.#numbers = new Float64Array(FIRST * this.#width)
  }

  #grow(): void {
    const numbers = this.#numbers
    this.#numbers = new Float64Array(2 * Math.max(numbers.length, FIRST * this.#width))
    this.#numbers.set(numbers)
  }
}
