import { TableSweeper } from './sweeper.ts'
import { Table } from './table.ts'

/** Passes over a page, at most, in search of an expired key. */
const PASSES = 4
/** Tables compared, at most, in search of the key nearest to a full quota. */
const TABLES_TRIED = 4

/** The tables of a memory store, one for each policy, and the room that their keys share. */
export class Tables {
  /** The most keys that are kept, over all tables. */
  readonly maxKeys: number
  /** Integer ms since the epoch. */
  readonly clock: () => number
  readonly sweeper: TableSweeper
  private readonly tables: Table[] = []
  /** The table looked at last. */
  private hand = 0

  constructor(maxKeys: number, clock: () => number) {
    this.maxKeys = maxKeys
    this.clock = clock
    this.sweeper = new TableSweeper(this.tables, clock)
  }

  /** Keys kept now. */
  get size(): number {
    let size = 0
    for (let i = 0; i < this.tables.length; i += 1) size += (this.tables[i] as Table).size
    return size
  }

  add(): Table {
    const table = new Table(this.maxKeys)
    this.tables.push(table)
    return table
  }

  /** Stops the sweep and forgets every key. */
  close(): void {
    this.sweeper.close()
    for (const table of this.tables) table.clear()
  }

  /**
   * Frees one key or some: those that have expired, else the one nearest to a full quota. False if
   * every key is being refused.
   */
  makeRoom(now: number): boolean {
    return this.freeExpired(now) || this.evict()
  }

  /**
   * Frees one key although every key is being refused: the one that will be admitted soonest, as
   * far as one page shows. For a key of `table` that will be blocked.
   */
  displace(table: Table): void {
    const from = table.size > 0 ? table : this.tables.find(({ size }) => size > 0)
    from?.free(from.rows.soonest())
  }

  private freeExpired(now: number): boolean {
    let passes = 0
    for (const table of this.tables) {
      for (; table.isDue(now) && passes < PASSES; passes += 1) {
        if (table.sweep(now) > 0) return true
      }
    }
    return false
  }

  private evict(): boolean {
    let from: Table | undefined
    let best = -1
    for (let i = 0, tried = 0; i < this.tables.length && tried < TABLES_TRIED; i += 1) {
      this.hand = (this.hand + 1) % this.tables.length
      const table = this.tables[this.hand] as Table
      const row = table.rows.best()
      if (row < 0) continue
      tried += 1
      if (from !== undefined && from.rows.usage(best) <= table.rows.usage(row)) continue
      from = table
      best = row
    }
    from?.free(best)
    return from !== undefined
  }
}
