import { SluiceError } from '../../errors/sluice-error.ts'
import { checkObject } from '../../options/checks.ts'
import { checkKnown } from '../../options/known.ts'
import { PLACES } from '../../options/places.ts'
import { readOptions } from '../../options/read.ts'
import { OPTIONS } from '../../options/table.ts'
import { readInspectOptions } from '../inspection/inspect-options.ts'
import type { MemoryStoreOptions } from '../options.generated.ts'
import type { InspectableStore, InspectOptions, Keyspace, Ledger, StoreEntry } from '../store.ts'
import { inspectTables, type NamedTable } from './inspect-tables.ts'
import { MemoryLedger } from './memory-ledger.ts'
import { Sweeper } from './sweeper.ts'
import { Table } from './table.ts'
import { turnClock } from './turn-clock.ts'

/** Passes over a page, at most, in search of an expired key. */
const PASSES = 4
/** Tables compared, at most, in search of the key nearest to a full quota. */
const TABLES_TRIED = 4

/**
 * Keeps states in this process: decisions are synchronous. Each process has its own: two of them
 * behind a load balancer admit twice the limit.
 *
 * @throws SluiceError if an option is unknown, of the wrong type or out of range
 */
export function memoryStore(options: MemoryStoreOptions = {}): MemoryStore {
  return new MemoryStore(options)
}

export class MemoryStore implements InspectableStore<'sync'> {
  readonly mode = 'sync'
  readonly maxKeys: number
  readonly clock: () => number
  private readonly tables: Table[] = []
  private readonly keyspaces = new Map<string, NamedTable>()
  private readonly sweeper: Sweeper
  /** The table looked at last. */
  private hand = 0

  constructor(options: MemoryStoreOptions) {
    const given = checkObject('options', options, 'the options of a store')
    checkKnown('', given, PLACES.memoryStore)
    const { maxKeys, clock = turnClock() } = readOptions(OPTIONS.memoryStore, '', given)
    this.maxKeys = maxKeys
    this.clock = clock
    this.sweeper = new Sweeper(this.tables, this.clock)
  }

  /** Keys kept now. */
  get size(): number {
    let size = 0
    for (let i = 0; i < this.tables.length; i += 1) size += (this.tables[i] as Table).size
    return size
  }

  /** @throws SluiceError if `maxKeys` has no room for one key of each space */
  open(keyspaces: readonly Keyspace[], prefix: string): Ledger<'sync'> {
    if (keyspaces.length > this.maxKeys) {
      throw new SluiceError({
        code: 'SLUICE_OPTION_CONFLICT',
        option: 'maxKeys',
        expected: `at least ${keyspaces.length}, since a client's key counts once for each policy`,
        received: this.maxKeys,
        fix: 'Raise maxKeys of the memory store.',
      })
    }
    return new MemoryLedger(
      this,
      keyspaces.map((keyspace) => this.table(keyspace.prefix ?? prefix, keyspace.name)),
    )
  }

  /** @throws SluiceError if an option is wrong */
  inspect(options?: InspectOptions): AsyncIterable<StoreEntry> {
    const inspection = readInspectOptions(options)
    return inspectTables([...this.keyspaces.values()], this.clock, inspection)
  }

  /** Stops the sweep and forgets every key. */
  close(): void {
    this.sweeper.close()
    for (const table of this.tables) table.clear()
  }

  /** After a key of `table` was kept: schedules the sweep that frees it once it has expired. */
  kept({ slots }: Table, now: number): void {
    if (slots.dueAt < this.sweeper.nextAt) this.sweeper.expect(slots.dueAt, now)
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
    from?.free(from.slots.soonest())
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
      const slot = table.slots.best()
      if (slot < 0) continue
      tried += 1
      if (from !== undefined && from.slots.usage(best) <= table.slots.usage(slot)) continue
      from = table
      best = slot
    }
    from?.free(best)
    return from !== undefined
  }

  private table(prefix: string, name: string): Table {
    const keyspace = `${prefix}:${name}`
    const known = this.keyspaces.get(keyspace)
    if (known !== undefined) return known.table
    const table = new Table(this.maxKeys)
    this.keyspaces.set(keyspace, { prefix, name, table })
    this.tables.push(table)
    return table
  }
}
