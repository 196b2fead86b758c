import { conflict } from '../../errors/conflict.ts'
import { checkObject } from '../../options/checks.ts'
import { checkKnown } from '../../options/known.ts'
import { OPTION_NAMES } from '../../options/option-names.ts'
import { readOptions } from '../../options/read.ts'
import { OPTIONS } from '../../options/table.ts'
import { keptDocuments } from '../documents/kept-documents.ts'
import { readInspectOptions, type Wanted } from '../inspection/inspect-options.ts'
import type { MemoryStoreOptions } from '../options.generated.ts'
import type {
  Documents,
  InspectableStore,
  InspectOptions,
  Keyspace,
  Ledger,
  StoreEntry,
} from '../store.ts'
import { MemoryLedger } from './memory-ledger.ts'
import { Tables } from './tables.ts'
import { turnClock } from './turn-clock.ts'

/**
 * Counts in this process, synchronously. Each process counts on its own: two behind a load balancer
 * admit twice the limit.
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
  readonly documents: Documents<'sync'>
  readonly #tables: Tables

  constructor(options: MemoryStoreOptions) {
    const given = checkObject('options', options, 'the options of a store')
    checkKnown('', given, OPTION_NAMES.memoryStore)
    const { maxKeys, clock = turnClock() } = readOptions(OPTIONS.memoryStore, '', given)
    this.maxKeys = maxKeys
    this.clock = clock
    this.#tables = new Tables(maxKeys, clock)
    this.documents = keptDocuments(clock)
  }

  /** Keys kept now. */
  get size(): number {
    return this.#tables.size
  }

  /** @throws SluiceError if `maxKeys` has no room for one key of each space */
  open(keyspaces: readonly Keyspace[], prefix: string): Ledger<'sync'> {
    if (keyspaces.length > this.maxKeys) {
      throw conflict(
        'maxKeys',
        `at least ${keyspaces.length}, since a client's key counts once for each policy`,
        this.maxKeys,
        'Raise maxKeys of the memory store.',
      )
    }
    const tables = keyspaces.map((each) => {
      const table = this.#tables.of(each.prefix ?? prefix, each.name)
      table.keyspace = each
      return table
    })
    return new MemoryLedger(this.#tables, tables, keyspaces)
  }

  /** @throws SluiceError if an option is wrong */
  inspect(options?: InspectOptions): AsyncIterable<StoreEntry> {
    return this.#entries(readInspectOptions(options))
  }

  async *#entries(wanted: Wanted): AsyncGenerator<StoreEntry, void, undefined> {
    const { inspectTables } = await import('./inspect-tables.ts')
    yield* inspectTables([...this.#tables.all], this.clock, wanted)
  }

  /** Stops the sweep and forgets every key. */
  close(): void {
    this.#tables.sweeper.close()
    this.#tables.clear()
  }
}
