import { SluiceError } from '../../errors/sluice-error.ts'
import { checkObject } from '../../options/checks.ts'
import { checkKnown } from '../../options/known.ts'
import { PLACES } from '../../options/places.ts'
import { readOptions } from '../../options/read.ts'
import { OPTIONS } from '../../options/table.ts'
import { readInspectOptions } from '../inspection/inspect-options.ts'
import type { MemoryStoreOptions } from '../options.generated.ts'
import type { InspectableStore, InspectOptions, Keyspaces, Ledger, StoreEntry } from '../store.ts'
import { inspectTables, type NamedTable } from './inspect-tables.ts'
import { MemoryLedger } from './memory-ledger.ts'
import type { Table } from './table.ts'
import { Tables } from './tables.ts'
import { turnClock } from './turn-clock.ts'

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
  private readonly tables: Tables
  private readonly keyspaces = new Map<string, NamedTable>()

  constructor(options: MemoryStoreOptions) {
    const given = checkObject('options', options, 'the options of a store')
    checkKnown('', given, PLACES.memoryStore)
    const { maxKeys, clock = turnClock() } = readOptions(OPTIONS.memoryStore, '', given)
    this.maxKeys = maxKeys
    this.clock = clock
    this.tables = new Tables(maxKeys, clock)
  }

  /** Keys kept now. */
  get size(): number {
    return this.tables.size
  }

  /** @throws SluiceError if `maxKeys` has no room for one key of each space */
  open({ policies, ban }: Keyspaces, prefix: string): Ledger<'sync'> {
    const keyspaces = policies.concat(ban ?? [])
    if (keyspaces.length > this.maxKeys) {
      throw new SluiceError({
        code: 'SLUICE_OPTION_CONFLICT',
        option: 'maxKeys',
        expected: `at least ${keyspaces.length}, since a client's key counts once for each policy`,
        received: this.maxKeys,
        fix: 'Raise maxKeys of the memory store.',
      })
    }
    const tables = keyspaces.map((each) => this.table(each.prefix ?? prefix, each.name))
    return new MemoryLedger(this.tables, tables, ban?.limit)
  }

  /** @throws SluiceError if an option is wrong */
  inspect(options?: InspectOptions): AsyncIterable<StoreEntry> {
    const inspection = readInspectOptions(options)
    return inspectTables([...this.keyspaces.values()], this.clock, inspection)
  }

  /** Stops the sweep and forgets every key. */
  close(): void {
    this.tables.close()
  }

  private table(prefix: string, name: string): Table {
    const keyspace = `${prefix}:${name}`
    const known = this.keyspaces.get(keyspace)
    if (known !== undefined) return known.table
    const table = this.tables.add()
    this.keyspaces.set(keyspace, { prefix, name, table })
    return table
  }
}
