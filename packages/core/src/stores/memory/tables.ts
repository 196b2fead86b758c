import { ownKeyspace } from '../inspection/keyspace-name.ts'
import { type OwnCount, OwnTable } from './own-table.ts'
import { TableSweeper } from './sweeper.ts'
import { Table } from './table.ts'

/** Passes over a page, at most, in search of an expired key. */
const PASSES = 4
/** Tables compared, at most, in search of the key nearest to a full quota. */
const TABLES_TRIED = 4

/** The tables of a memory store, one for each keyspace, and the room that their keys share. */
export class Tables {
  /** The most keys that are kept, over all tables. */
  readonly maxKeys: number
  /** Integer ms since the epoch. */
  readonly clock: () => number
  readonly all: Table[] = []
  /** The clients' own limits, top-ups and blocks, by policies. */
  readonly owns: OwnTable[] = []
  readonly sweeper: TableSweeper
  readonly #ownCount: OwnCount
  /** The table looked at last. */
  #hand = 0

  constructor(maxKeys: number, clock: () => number) {
    this.maxKeys = maxKeys
    this.clock = clock
    this.#ownCount = { value: 0, most: maxKeys }
    this.sweeper = new TableSweeper([this.all, this.owns], clock)
  }

  /** Keys kept now. */
  get size(): number {
    let size = 0
    for (let i = 0; i < this.all.length; i += 1) size += (this.all[i] as Table).size
    return size
  }

  /** The table of a keyspace, a new one at first. */
  of(prefix: string, name: string): Table {
    const known = this.all.find((table) => table.prefix === prefix && table.name === name)
    if (known !== undefined) return known
    const table = new Table(this.maxKeys, prefix, name, this.#ownOf(prefix, ownKeyspace(name)))
    this.all.push(table)
    return table
  }

  /** Forgets every key. */
  clear(): void {
    for (const each of [...this.all, ...this.owns]) each.clear()
  }

  /**
   * Frees one key or some: those that have expired, else the one nearest to a full quota. False if
   * every key is being refused.
   */
  makeRoom(now: number): boolean {
    return this.#freeExpired(now) || this.#evict()
  }

  #ownOf(prefix: string, name: string): OwnTable {
    const known = this.owns.find((own) => own.prefix === prefix && own.name === name)
    if (known !== undefined) return known
    const own = new OwnTable(prefix, name, this.#ownCount)
    this.owns.push(own)
    return own
  }

  #freeExpired(now: number): boolean {
    let passes = 0
    for (const table of this.all) {
      for (; table.dueAt <= now && passes < PASSES; passes += 1) {
        if (table.sweep(now) > 0) return true
      }
    }
    return false
  }

  #evict(): boolean {
    let from: Table | undefined
    let best = -1
    for (let i = 0, tried = 0; i < this.all.length && tried < TABLES_TRIED; i += 1) {
      this.#hand = (this.#hand + 1) % this.all.length
      const table = this.all[this.#hand] as Table
      const row = table.best()
      if (row < 0) continue
      tried += 1
      if (from !== undefined && from.usage(best) <= table.usage(row)) continue
      from = table
      best = row
    }
    from?.free(best)
    return from !== undefined
  }
}
