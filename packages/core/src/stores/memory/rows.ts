import type { KeyState } from '../../algorithms/algorithm.ts'
import type { Log } from '../../algorithms/sliding-log/log.ts'

/** A row's page is its number without the lowest bits. */
const PAGE_BITS = 12
const PAGE = 2 ** PAGE_BITS
const WIDTH = 4
/** Rows of the first page at first: a store that holds little takes little. */
const FIRST = 2

/** The usage of a key that was refused, or that has nothing left. */
export const EXHAUSTED = 255
/** Shared by all keys that find no room because every other one is being refused. */
export const OVERFLOW = 0

/**
 * Keys and their states in numbered rows: 41 bytes each in pages of arrays, so that growing copies
 * no more than a page, the garbage collector has little to visit, and a look through a page takes
 * microseconds.
 */
export class Rows {
  /** Keys that are not exhausted. */
  spare = 0
  /** The earliest time at which a row can be freed, ms. */
  dueAt = Infinity
  private readonly pages: Page[] = []
  /** The last row that was freed, or -1. Its state holds the one that was freed before it. */
  private free = -1
  private next = 0
  /** The page looked at last. */
  private hand = 0

  constructor() {
    this.claim(undefined)
  }

  /** A row with the state of a key never seen. */
  claim(key: string | undefined): number {
    const row = this.free < 0 ? this.next++ : this.free
    if (row === this.pages.length * PAGE) this.pages.push(new Page(row === 0 ? FIRST : PAGE))
    const page = this.page(row)
    if ((row & (PAGE - 1)) === page.capacity) page.grow()
    const { keys, states } = page
    keys[row & (PAGE - 1)] = key
    if (row === this.free) {
      const offset = (row & (PAGE - 1)) * WIDTH
      this.free = states[offset] as number
      states[offset] = 0
    }
    return row
  }

  release(row: number): void {
    this.clear(row)
    const { keys, states } = this.page(row)
    keys[row & (PAGE - 1)] = undefined
    states[(row & (PAGE - 1)) * WIDTH] = this.free
    this.free = row
  }

  key(row: number): string | undefined {
    return this.page(row).keys[row & (PAGE - 1)]
  }

  /** Rows from the first one to the last that was ever claimed: those that are free have no key. */
  get end(): number {
    return this.next
  }

  /** Loads a state. */
  load(row: number, state: KeyState): void {
    const { states, logs } = this.pages[row >> PAGE_BITS] as Page
    const offset = (row & (PAGE - 1)) * WIDTH
    state.a = states[offset] as number
    state.b = states[offset + 1] as number
    state.c = states[offset + 2] as number
    state.log = logs === undefined ? undefined : logs[row & (PAGE - 1)]
    state.blockedUntil = -(states[offset + 3] as number)
  }

  /**
   * @param keepMs the ms from `now` until the row can be freed. The sum would be an object of its own.
   * @param usage the share of the quota in use, 0 … 254, or `EXHAUSTED`
   */
  save(row: number, state: KeyState, now: number, keepMs: number, usage: number): void {
    const page = this.pages[row >> PAGE_BITS] as Page
    const { states } = page
    const offset = (row & (PAGE - 1)) * WIDTH
    const freeAt = now + keepMs
    states[offset] = state.a
    states[offset + 1] = state.b
    states[offset + 2] = state.c
    states[offset + 3] = freeAt
    if (freeAt < page.dueAt) this.due(page, freeAt)
    if (page.usages[row & (PAGE - 1)] !== usage) this.setUsage(row, usage)
    if (state.log !== undefined) {
      page.logs ??= []
      page.logs[row & (PAGE - 1)] = state.log
    }
  }

  block(row: number, until: number): void {
    this.clear(row)
    const page = this.page(row)
    page.states[(row & (PAGE - 1)) * WIDTH + 3] = -until
    if (until < page.dueAt) this.due(page, until)
  }

  usage(row: number): number {
    return this.page(row).usages[row & (PAGE - 1)] as number
  }

  setUsage(row: number, usage: number): void {
    const page = this.page(row)
    const before = this.usage(row)
    // The overflow row never counts as a key that could be freed.
    page.usages[row & (PAGE - 1)] = row === OVERFLOW ? EXHAUSTED : usage
    const change = Number(before === EXHAUSTED) - Number(this.usage(row) === EXHAUSTED)
    page.spare += change
    this.spare += change
  }

  /** The rows of the next page that can be freed at `now`, at most `most`. */
  expired(now: number, most: number): readonly number[] {
    const found: number[] = []
    const page = this.nextPage((each) => each.dueAt <= now)
    if (page === undefined) this.dueAt = Math.min(...this.pages.map(({ dueAt }) => dueAt))
    else page.dueAt = page.expired(now, most, this.hand * PAGE, found)
    return found
  }

  /** The row whose key is nearest to a full quota, of the next page; -1 if all are exhausted. */
  best(): number {
    const page = this.spare > 0 ? this.nextPage(({ spare }) => spare > 0) : undefined
    return page === undefined ? -1 : this.hand * PAGE + page.best()
  }

  /** The row whose quota is whole, or block over, soonest, of the next page; -1 without keys. */
  soonest(): number {
    const page = this.nextPage(({ keys }) => keys.some((key) => key !== undefined))
    return page === undefined ? -1 : this.hand * PAGE + page.soonest()
  }

  private page(row: number): Page {
    return this.pages[row >> PAGE_BITS] as Page
  }

  private due(page: Page, freeAt: number): void {
    page.dueAt = freeAt
    if (freeAt < this.dueAt) this.dueAt = freeAt
  }

  private clear(row: number): void {
    const { states, logs } = this.page(row)
    const offset = (row & (PAGE - 1)) * WIDTH
    states.fill(0, offset, offset + WIDTH)
    if (logs !== undefined) logs[row & (PAGE - 1)] = undefined
    this.setUsage(row, EXHAUSTED)
  }

  /** The next page that `suits`, in turn. */
  private nextPage(suits: (page: Page) => boolean): Page | undefined {
    for (let tried = 0; tried < this.pages.length; tried += 1) {
      this.hand = (this.hand + 1) % this.pages.length
      const page = this.pages[this.hand] as Page
      if (suits(page)) return page
    }
    return undefined
  }
}

class Page {
  /** Undefined if the row is free. */
  readonly keys: (string | undefined)[] = []
  /**
   * Four numbers per row: the three integers of its state, and the time at which the row can be freed, since
   * its quota is full again, ms; negative: the key is blocked until then.
   */
  states: Float64Array
  /** The sliding log's entries; only for that algorithm. */
  logs: (Log | undefined)[] | undefined
  /** The share of the quota in use, 0 … 254, or `EXHAUSTED`; so is a row that holds no state. */
  usages: Uint8Array
  /** Keys that are not exhausted. */
  spare = 0
  /** The earliest time at which a row can be freed, ms. */
  dueAt = Infinity

  constructor(rows: number) {
    this.states = new Float64Array(rows * WIDTH)
    this.usages = new Uint8Array(rows).fill(EXHAUSTED)
  }

  /** Rows that it has room for. */
  get capacity(): number {
    return this.usages.length
  }

  /** Doubles its room. At most it copies half a page. */
  grow(): void {
    const { states, usages } = this
    this.states = new Float64Array(states.length * 2)
    this.states.set(states)
    this.usages = new Uint8Array(usages.length * 2).fill(EXHAUSTED)
    this.usages.set(usages)
  }

  /** The place of the key nearest to a full quota. */
  best(): number {
    const { usages } = this
    let best = 0
    for (let i = 1; i < this.keys.length; i += 1) {
      if ((usages[i] as number) < (usages[best] as number)) best = i
    }
    return best
  }

  /**
   * Adds to `found` the rows that can be freed at `now`, until it has `most`. Returns the earliest
   * time at which one of the others can be, ms, or `now` if there were more.
   */
  expired(now: number, most: number, firstRow: number, found: number[]): number {
    let earliest = Infinity
    for (let i = 0; i < this.keys.length; i += 1) {
      const freeAt = this.freeAt(i)
      if (freeAt >= earliest || this.keys[i] === undefined) continue
      if (freeAt > now) earliest = freeAt
      else if (found.length === most) return now
      else found.push(firstRow + i)
    }
    return earliest
  }

  /** The place that can be freed soonest, of those that have a key. */
  soonest(): number {
    let soonest = -1
    for (let i = 0; i < this.keys.length; i += 1) {
      if (this.keys[i] === undefined) continue
      if (soonest < 0 || this.freeAt(i) < this.freeAt(soonest)) soonest = i
    }
    return soonest
  }

  private freeAt(i: number): number {
    return Math.abs(this.states[i * WIDTH + 3] as number)
  }
}
