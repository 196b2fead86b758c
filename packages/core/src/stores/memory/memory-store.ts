import { Cell } from '../../algorithms/algorithm.ts'
import { checkClock, checkInteger } from '../../options/checks.ts'
import type { Charge, Ledger, Ruling, Space, Store } from '../store.ts'
import { EXHAUSTED } from './slots.ts'
import { Table } from './table.ts'
import { turnClock } from './turn-clock.ts'

export interface MemoryStoreOptions {
  /**
   * The most keys that are kept, 1 … 10^8, over all limiters that use the store; a key with three
   * policies counts three times. Beyond it expired keys go first, then those nearest to a full
   * quota. A key that is being refused never goes: if there is nothing else, new keys share one
   * quota. Default: 1,000,000, about 60 MB with short keys.
   */
  maxKeys?: number
  /** Integer ms since the epoch, for tests. Default: the wall clock, read once per turn. */
  clock?: () => number
}

/** Shards looked at, at most, to make room for one new key. */
const SHARDS_TRIED = 8
/** The longest that one slice of the periodic sweep takes, ms. */
const SLICE_MS = 1
const SWEEP_EVERY_MS = 1000

/**
 * Keeps states in this process: decisions are synchronous. Each process has its own: two of them
 * behind a load balancer admit twice the limit.
 *
 * @throws SluiceError if an option is out of range
 */
export function memoryStore(options: MemoryStoreOptions = {}): MemoryStore {
  return new MemoryStore(options)
}

export class MemoryStore implements Store<'sync'> {
  readonly maxKeys: number
  readonly clock: () => number
  private readonly tables = new Map<string, Table>()
  private readonly sweeper: NodeJS.Timeout
  /** Where the sweep goes on: counts all shards of all tables through. */
  private position = 0

  constructor(options: MemoryStoreOptions) {
    const { maxKeys = 1_000_000, clock } = options
    this.maxKeys = checkInteger('maxKeys', maxKeys, 1, 100_000_000)
    this.clock = clock === undefined ? turnClock() : checkClock(clock)
    this.sweeper = setInterval(() => this.sweep(), SWEEP_EVERY_MS).unref()
  }

  /** Keys kept now. */
  get size(): number {
    let size = 0
    for (const table of this.tables.values()) size += table.size
    return size
  }

  open(spaces: readonly Space[], prefix: string): Ledger<'sync'> {
    return new MemoryLedger(
      this,
      spaces.map(({ name }) => this.table(`${prefix}:${name}`)),
    )
  }

  /** Stops the sweep and forgets every key. */
  close(): void {
    clearInterval(this.sweeper)
    this.tables.clear()
  }

  /**
   * Makes room for a new key of `table`; false if every key that could go is being refused.
   * Expired keys go first, in whichever table they are.
   */
  makeRoom(table: Table, key: string, now: number): boolean {
    if (this.size < this.maxKeys) return true
    if (this.freeExpired(now)) return true
    if (table.evict(table.shardOf(key), now)) return true
    for (const other of this.tables.values()) {
      for (let tried = 0; tried < Math.min(SHARDS_TRIED, other.shards); tried += 1) {
        this.position += 1
        if (other.evict(this.position % other.shards, now)) return true
      }
    }
    return false
  }

  private freeExpired(now: number): boolean {
    let tried = 0
    for (const table of this.tables.values()) {
      for (let shard = 0; shard < table.shards && tried < SHARDS_TRIED; shard += 1) {
        if (!table.isDue(shard, now)) continue
        if (table.sweep(shard, now) > 0) return true
        tried += 1
      }
    }
    return false
  }

  /** Frees what has expired, in slices, so that the event loop is never held for long. */
  private sweep(): void {
    const started = performance.now()
    const now = this.clock()
    for (const table of this.tables.values()) {
      for (let shard = 0; shard < table.shards; shard += 1) {
        while (table.isDue(shard, now) && table.sweep(shard, now) > 0) {
          if (performance.now() - started < SLICE_MS) continue
          setTimeout(() => this.sweep(), 5).unref()
          return
        }
      }
    }
  }

  private table(space: string): Table {
    let table = this.tables.get(space)
    if (table === undefined) {
      table = new Table(this.maxKeys)
      this.tables.set(space, table)
    }
    return table
  }
}

class MemoryLedger implements Ledger<'sync'> {
  private readonly store: MemoryStore
  private readonly tables: readonly Table[]
  private readonly cells: readonly Cell[]
  private readonly found: number[]
  private readonly ruling: Ruling

  constructor(store: MemoryStore, tables: readonly Table[]) {
    this.store = store
    this.tables = tables
    this.cells = tables.map(() => new Cell())
    this.found = tables.map(() => -1)
    this.ruling = { admitted: false, at: 0, source: 'store', outcomes: this.cells }
  }

  consume(charges: readonly Charge[]): Ruling {
    const now = this.store.clock()
    const ruling = this.decide(charges, now, true)
    for (let i = 0; i < charges.length; i += 1) {
      const charge = charges[i] as Charge
      const cell = this.cells[i] as Cell
      const cost = ruling.admitted ? charge.cost : 0
      if (cost > 0 || (cell.rebased && cell.admitted === ruling.admitted)) {
        this.keep(i, charge, now, cost)
      } else if (!cell.admitted && (this.found[i] as number) >= 0) {
        this.tables[i]?.slots.setStanding(this.found[i] as number, EXHAUSTED)
      }
    }
    return ruling
  }

  peek(charges: readonly Charge[]): Ruling {
    return this.decide(charges, this.store.clock(), false)
  }

  settle(charges: readonly Charge[], chargedAt?: number): void {
    const now = this.store.clock()
    for (let i = 0; i < charges.length; i += 1) {
      const { key, quota, cost } = charges[i] as Charge
      const cell = this.cells[i] as Cell
      const blocked = this.load(i, key, now, cost > 0)
      if (blocked > 0) continue
      quota.settle(cell, now, cost, chargedAt ?? now)
      if (cell.resetMs === 0) this.tables[i]?.delete(key)
      else this.write(i, key, quota.limit, now)
    }
  }

  block(keys: readonly string[], durationMs: number): void {
    const now = this.store.clock()
    for (let i = 0; i < keys.length; i += 1) {
      const key = keys[i] as string
      const table = this.tables[i] as Table
      this.store.makeRoom(table, key, now)
      const slot = table.find(key) ?? table.add(key)
      table.slots.block(slot, now + durationMs)
      table.expires(key, now + durationMs)
    }
  }

  reset(keys: readonly string[]): void {
    for (let i = 0; i < keys.length; i += 1) this.tables[i]?.delete(keys[i] as string)
  }

  private decide(charges: readonly Charge[], now: number, makeRoom: boolean): Ruling {
    let admitted = true
    for (let i = 0; i < charges.length; i += 1) {
      const charge = charges[i] as Charge
      const cell = this.cells[i] as Cell
      const blockedMs = this.load(i, charge.key, now, makeRoom)
      if (blockedMs > 0) refuse(cell, blockedMs)
      else charge.quota.decide(cell, now, charge.cost)
      if (!cell.admitted) admitted = false
    }
    if (!admitted && charges.length > 1) this.uncharge(charges, now)
    this.ruling.admitted = admitted
    this.ruling.at = now
    return this.ruling
  }

  /** Where another policy refused, one that would have admitted is shown as it stands. */
  private uncharge(charges: readonly Charge[], now: number): void {
    for (let i = 0; i < charges.length; i += 1) {
      const { key, quota } = charges[i] as Charge
      const cell = this.cells[i] as Cell
      if (!cell.admitted) continue
      this.load(i, key, now, true)
      quota.decide(cell, now, 0)
    }
  }

  /** Loads the key's state into its cell. Returns for how many ms the key is still blocked. */
  private load(i: number, key: string, now: number, makeRoom: boolean): number {
    const table = this.tables[i] as Table
    const cell = this.cells[i] as Cell
    let slot = table.find(key) ?? -1
    if (slot < 0 && makeRoom && !this.store.makeRoom(table, key, now)) slot = table.overflow
    this.found[i] = slot
    if (slot < 0) {
      cell.a = cell.b = cell.c = 0
      cell.log = undefined
      return 0
    }
    table.slots.load(slot, cell)
    const freeAt = table.slots.freeAt(slot)
    return freeAt < 0 ? -freeAt - now : 0
  }

  private keep(i: number, { key, quota }: Charge, now: number, cost: number): void {
    quota.keep?.(this.cells[i] as Cell, now, cost)
    this.write(i, key, quota.limit, now)
  }

  private write(i: number, key: string, limit: number, now: number): void {
    const table = this.tables[i] as Table
    const cell = this.cells[i] as Cell
    const slot = this.claim(i, key)
    const freeAt = now + cell.resetMs
    const { remaining } = cell
    table.slots.save(slot, cell, freeAt)
    table.slots.setStanding(slot, remaining < 1 ? EXHAUSTED : standing(remaining, limit))
    table.expires(key, freeAt)
  }

  private claim(i: number, key: string): number {
    const slot = this.found[i] as number
    return slot < 0 ? (this.tables[i] as Table).add(key) : slot
  }
}

/** The share of the quota in use, 0 … 254. */
function standing(remaining: number, limit: number): number {
  return remaining >= limit ? 0 : Math.ceil((1 - remaining / limit) * 254)
}

function refuse(cell: Cell, blockedMs: number): void {
  cell.admitted = false
  cell.rebased = false
  cell.remaining = 0
  cell.resetMs = blockedMs
  cell.waitMs = blockedMs
  cell.delayMs = 0
}
