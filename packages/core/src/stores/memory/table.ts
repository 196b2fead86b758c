import type { KeyState } from '../../algorithms/algorithm.ts'
import type { Held } from '../../algorithms/held/held.ts'
import type { Log } from '../../algorithms/sliding-log/log.ts'
import { bounded, copied, DIGEST_LENGTH } from '../../key/digest.ts'
import type { Keyspace } from '../store.ts'
import { KeyIndex } from './key-index.ts'
import type { OwnTable } from './own-table.ts'

/** Keys freed in one go, at most. */
const BATCH = 256
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
 * The keys of one keyspace and their states, in numbered rows: 41 bytes each in pages of arrays, so that
 * growing copies no more than a page, the garbage collector has little to visit, and a look through a
 * page takes microseconds.
 */
export class Table {
  /** Namespace of the keys. */
  readonly prefix: string
  /** The name of the keyspace. */
  readonly name: string
  /** The keyspace of the ledger that was opened last. */
  keyspace: Keyspace | undefined
  size = 0
  /** Keys that are not exhausted. */
  spare = 0
  /** The earliest time at which a row can be freed, ms. */
  dueAt = Infinity
  /** The clients' own limits, top-ups and blocks, whether they have a row or not. */
  readonly own: OwnTable
  readonly #maxKeys: number
  #index: KeyIndex
  #pages: RowPage[] = []
  /** The last row that was freed, or -1. Its state holds the one that was freed before it. */
  #lastFree = -1
  #next = 0
  /** The page looked at last. */
  #hand = 0

  /** @param maxKeys the most keys that it will hold */
  constructor(maxKeys: number, prefix: string, name: string, own: OwnTable) {
    this.own = own
    this.#maxKeys = maxKeys
    this.prefix = prefix
    this.name = name
    this.#index = new KeyIndex(maxKeys, this)
    this.#claim(undefined)
  }

  /** The row of a key, or -1. */
  find(key: string): number {
    return this.#index.find(key.length < DIGEST_LENGTH ? key : bounded(key))
  }

  /** The row of a key in the form in which it is kept, or -1. */
  findKept(id: string): number {
    return this.#index.find(id)
  }

  /** Adds a key that is not there yet; returns its row, with the state of a key never seen. */
  add(key: string): number {
    const id = copied(bounded(key))
    const row = this.#claim(id)
    this.#index.add(id, row)
    this.size += 1
    return row
  }

  delete(key: string): void {
    const row = this.find(key)
    if (row >= 0) this.free(row)
  }

  free(row: number): void {
    const { keys, states } = this.#page(row)
    this.#index.delete(keys[row & (PAGE - 1)] as string)
    this.#empty(row)
    keys[row & (PAGE - 1)] = undefined
    states[(row & (PAGE - 1)) * WIDTH] = this.#lastFree
    this.#lastFree = row
    this.size -= 1
  }

  /** Forgets every key. */
  clear(): void {
    this.#index = new KeyIndex(this.#maxKeys, this)
    this.#pages = []
    this.size = 0
    this.spare = 0
    this.dueAt = Infinity
    this.#lastFree = -1
    this.#next = 0
    this.#claim(undefined)
  }

  /** Frees expired rows of one page, at most a batch; returns how many. */
  sweep(now: number): number {
    const expired = this.expired(now, BATCH)
    for (const row of expired) this.free(row)
    return expired.length
  }

  key(row: number): string | undefined {
    return this.#page(row).keys[row & (PAGE - 1)]
  }

  /** Rows from the first one to the last that was ever claimed: those that are free have no key. */
  get end(): number {
    return this.#next
  }

  load(row: number, state: KeyState): void {
    const { states, logs, helds } = this.#pages[row >> PAGE_BITS] as RowPage
    const offset = (row & (PAGE - 1)) * WIDTH
    state.a = states[offset] as number
    state.b = states[offset + 1] as number
    state.c = states[offset + 2] as number
    state.log = logs === undefined ? undefined : logs[row & (PAGE - 1)]
    state.held = helds === undefined ? undefined : helds[row & (PAGE - 1)]
  }

  /**
   * @param keepMs the ms from `now` until the row can be freed. The sum would be an object of its own.
   * @param usage the share of the quota in use, 0 … 254, or `EXHAUSTED`
   */
  save(row: number, state: KeyState, now: number, keepMs: number, usage: number): void {
    const page = this.#pages[row >> PAGE_BITS] as RowPage
    const { states } = page
    const offset = (row & (PAGE - 1)) * WIDTH
    const freeAt = now + keepMs
    states[offset] = state.a
    states[offset + 1] = state.b
    states[offset + 2] = state.c
    states[offset + 3] = freeAt
    if (freeAt < page.dueAt) this.#due(page, freeAt)
    if (page.usages[row & (PAGE - 1)] !== usage) this.setUsage(row, usage)
    if (state.log !== undefined) {
      page.logs ??= []
      page.logs[row & (PAGE - 1)] = state.log
    }
    if (state.held !== undefined) {
      page.helds ??= []
      page.helds[row & (PAGE - 1)] = state.held
    }
  }

  usage(row: number): number {
    return this.#page(row).usages[row & (PAGE - 1)] as number
  }

  setUsage(row: number, usage: number): void {
    const page = this.#page(row)
    const before = page.usages[row & (PAGE - 1)]
    // The overflow row never counts as a key that could be freed.
    const after = row === OVERFLOW ? EXHAUSTED : usage
    page.usages[row & (PAGE - 1)] = after
    const change = Number(before === EXHAUSTED) - Number(after === EXHAUSTED)
    page.spare += change
    this.spare += change
  }

  /** The rows of the next page that can be freed at `now`, at most `most`. */
  expired(now: number, most: number): readonly number[] {
    const found: number[] = []
    const page = this.#nextPage((each) => each.dueAt <= now)
    if (page === undefined) this.dueAt = Math.min(...this.#pages.map(({ dueAt }) => dueAt))
    else page.dueAt = page.expired(now, most, this.#hand * PAGE, found)
    return found
  }

  /** The row whose key is nearest to a full quota, of the next page; -1 if all are exhausted. */
  best(): number {
    const page = this.spare > 0 ? this.#nextPage(({ spare }) => spare > 0) : undefined
    return page === undefined ? -1 : this.#hand * PAGE + page.best()
  }

  #page(row: number): RowPage {
    return this.#pages[row >> PAGE_BITS] as RowPage
  }

  #claim(key: string | undefined): number {
    const row = this.#lastFree < 0 ? this.#next++ : this.#lastFree
    if (row === this.#pages.length * PAGE) this.#pages.push(new RowPage(row === 0 ? FIRST : PAGE))
    const page = this.#page(row)
    if ((row & (PAGE - 1)) === page.usages.length) page.grow()
    const { keys, states } = page
    keys[row & (PAGE - 1)] = key
    if (row === this.#lastFree) {
      const offset = (row & (PAGE - 1)) * WIDTH
      this.#lastFree = states[offset] as number
      states[offset] = 0
    }
    return row
  }

  #due(page: RowPage, freeAt: number): void {
    page.dueAt = freeAt
    if (freeAt < this.dueAt) this.dueAt = freeAt
  }

  #empty(row: number): void {
    const { states, logs, helds } = this.#page(row)
    const offset = (row & (PAGE - 1)) * WIDTH
    states.fill(0, offset, offset + WIDTH)
    if (logs !== undefined) logs[row & (PAGE - 1)] = undefined
    if (helds !== undefined) helds[row & (PAGE - 1)] = undefined
    this.setUsage(row, EXHAUSTED)
  }

  /** The next page that `suits`, in turn. */
  #nextPage(suits: (page: RowPage) => boolean): RowPage | undefined {
    for (let tried = 0; tried < this.#pages.length; tried += 1) {
      this.#hand = (this.#hand + 1) % this.#pages.length
      const page = this.#pages[this.#hand] as RowPage
      if (suits(page)) return page
    }
    return undefined
  }
}

class RowPage {
  /** Undefined if the row is free. */
  readonly keys: (string | undefined)[] = []
  /**
   * Four numbers per row: the three integers of its state, and the time at which the row can be freed, since
   * its quota is full again, ms.
   */
  states: Float64Array
  /** The sliding log's entries; only for that algorithm. */
  logs: (Log | undefined)[] | undefined
  helds: (Held | undefined)[] | undefined
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
      const freeAt = this.states[i * WIDTH + 3] as number
      if (freeAt >= earliest || this.keys[i] === undefined) continue
      if (freeAt > now) earliest = freeAt
      else if (found.length === most) return now
      else found.push(firstRow + i)
    }
    return earliest
  }
}
