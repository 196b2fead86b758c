import type { Cell } from '../../algorithms/algorithm.ts'
import type { Log } from '../../algorithms/sliding-log/log.ts'

/** A slot's page is its number without the lowest bits. */
const PAGE_BITS = 12
const PAGE = 2 ** PAGE_BITS
const WIDTH = 4

/** The standing of a key that was refused, or has nothing left. */
export const EXHAUSTED = 255
/** Stands for all keys that find no room because every other one is being refused. */
export const OVERFLOW = 0

/**
 * Keys and their states in numbered slots: 41 bytes each in pages of arrays, so that growing copies
 * nothing, the garbage collector has little to visit, and a look through a page takes microseconds.
 */
export class Slots {
  /** Keys that are not exhausted. */
  spare = 0
  /** No slot can be freed before this time, ms. */
  dueAt = Infinity
  private readonly pages: Page[] = []
  private readonly free: number[] = []
  private next = 0
  private logs: (Log | undefined)[] | undefined
  /** The page looked at last. */
  private hand = 0

  constructor() {
    this.claim(undefined)
  }

  /** A slot with the state of a key never seen. */
  claim(key: string | undefined): number {
    const slot = this.free.pop() ?? this.next++
    if (slot === this.pages.length * PAGE) this.pages.push(new Page())
    this.page(slot).keys[slot & (PAGE - 1)] = key
    return slot
  }

  release(slot: number): void {
    this.clear(slot)
    this.page(slot).keys[slot & (PAGE - 1)] = undefined
    this.free.push(slot)
  }

  key(slot: number): string | undefined {
    return this.page(slot).keys[slot & (PAGE - 1)]
  }

  /** Loads a state. Returns for how many ms the key is still blocked. */
  load(slot: number, cell: Cell, now: number): number {
    const { states } = this.page(slot)
    const offset = (slot & (PAGE - 1)) * WIDTH
    cell.a = states[offset] as number
    cell.b = states[offset + 1] as number
    cell.c = states[offset + 2] as number
    cell.log = this.logs === undefined ? undefined : this.logs[slot]
    const blockedUntil = -(states[offset + 3] as number)
    return blockedUntil > now ? blockedUntil - now : 0
  }

  /** @param standing the share of the quota in use, 0 … 254, or `EXHAUSTED` */
  save(slot: number, cell: Cell, now: number, standing: number): void {
    const page = this.page(slot)
    const { states } = page
    const offset = (slot & (PAGE - 1)) * WIDTH
    const freeAt = now + cell.resetMs
    states[offset] = cell.a
    states[offset + 1] = cell.b
    states[offset + 2] = cell.c
    states[offset + 3] = freeAt
    if (freeAt < page.dueAt) this.due(page, freeAt)
    if (page.standings[slot & (PAGE - 1)] !== standing) this.setStanding(slot, standing)
    if (cell.log !== undefined) {
      this.logs ??= []
      this.logs[slot] = cell.log
    }
  }

  block(slot: number, until: number): void {
    this.clear(slot)
    const page = this.page(slot)
    page.states[(slot & (PAGE - 1)) * WIDTH + 3] = -until
    if (until < page.dueAt) this.due(page, until)
  }

  standing(slot: number): number {
    return this.page(slot).standings[slot & (PAGE - 1)] as number
  }

  setStanding(slot: number, standing: number): void {
    const page = this.page(slot)
    const before = this.standing(slot)
    // The overflow slot never counts as a key that could go.
    page.standings[slot & (PAGE - 1)] = slot === OVERFLOW ? EXHAUSTED : standing
    const change = Number(before === EXHAUSTED) - Number(this.standing(slot) === EXHAUSTED)
    page.spare += change
    this.spare += change
  }

  /** The slots of one page that can be freed at `now`, at most `most`. */
  expired(now: number, most: number): readonly number[] {
    const found: number[] = []
    const page = this.nextPage((each) => each.dueAt <= now)
    if (page === undefined) this.dueAt = Math.min(...this.pages.map(({ dueAt }) => dueAt))
    else page.dueAt = page.expired(now, most, this.hand * PAGE, found)
    return found
  }

  /** The slot whose key is nearest to a full quota, as far as a look at some pages tells, or -1. */
  best(pages: number): number {
    let best = -1
    for (let tried = 0; tried < Math.min(pages, this.pages.length); tried += 1) {
      const page = this.spare > 0 ? this.nextPage(({ spare }) => spare > 0) : undefined
      if (page === undefined) break
      const slot = this.hand * PAGE + page.best()
      if (best < 0 || this.standing(slot) < this.standing(best)) best = slot
    }
    return best
  }

  /** The slot whose quota is whole, or block over, soonest, as far as a look at one page tells. */
  soonest(): number {
    const page = this.nextPage(({ keys }) => keys.some((key) => key !== undefined))
    return page === undefined ? -1 : this.hand * PAGE + page.soonest()
  }

  private page(slot: number): Page {
    return this.pages[slot >> PAGE_BITS] as Page
  }

  private due(page: Page, freeAt: number): void {
    page.dueAt = freeAt
    if (freeAt < this.dueAt) this.dueAt = freeAt
  }

  private clear(slot: number): void {
    const offset = (slot & (PAGE - 1)) * WIDTH
    this.page(slot).states.fill(0, offset, offset + WIDTH)
    this.setStanding(slot, EXHAUSTED)
    if (this.logs !== undefined) this.logs[slot] = undefined
  }

  /** The next page that `suits`, round and round. */
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
  /** Undefined where the slot is free. */
  readonly keys: (string | undefined)[] = []
  /**
   * Per slot the cell's three integers, and the time at which the quota is whole again and the slot
   * can be freed, ms; negative: the key is blocked until then.
   */
  readonly states = new Float64Array(PAGE * WIDTH)
  /** The share of the quota in use, 0 … 254, or `EXHAUSTED`; so is a slot that holds no state. */
  readonly standings = new Uint8Array(PAGE).fill(EXHAUSTED)
  /** Keys that are not exhausted. */
  spare = 0
  /** No slot can be freed before this time, ms. */
  dueAt = Infinity

  /** The place of the key nearest to a full quota. */
  best(): number {
    const { standings } = this
    let best = 0
    for (let i = 1; i < standings.length; i += 1) {
      if ((standings[i] as number) < (standings[best] as number)) best = i
    }
    return best
  }

  /**
   * Adds to `found` the slots that can be freed at `now`, until it has `most`. Returns the earliest
   * time at which one of the others can be, ms, or `now` if there were more.
   */
  expired(now: number, most: number, firstSlot: number, found: number[]): number {
    let earliest = Infinity
    for (let i = 0; i < this.keys.length; i += 1) {
      const freeAt = this.freeAt(i)
      if (freeAt >= earliest || this.keys[i] === undefined) continue
      if (freeAt > now) earliest = freeAt
      else if (found.length === most) return now
      else found.push(firstSlot + i)
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
