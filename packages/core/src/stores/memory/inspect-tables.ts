import { afterTurn } from '#platform'
import { KeyState } from '../../algorithms/algorithm.ts'
import { bounded } from '../../key/digest.ts'
import type { Inspection } from '../inspection/inspect-options.ts'
import { inspectedKeyspace } from '../inspection/inspected-keyspace.ts'
import { type FoundKey, toEntry } from '../inspection/to-entry.ts'
import { decideOne } from '../rules/decide-all.ts'
import type { StoreEntry } from '../store.ts'
import { OVERFLOW, type Slots } from './slots.ts'
import type { Table } from './table.ts'

/** Slots that are read in one turn of the event loop. */
const STEP = 1000

/** A table, and where its keys are. */
export interface NamedTable {
  readonly prefix: string
  /** Of the keyspace. */
  readonly name: string
  readonly table: Table
}

/** Reads some slots of a table, lets requests be decided, and reads on. */
export async function* inspectTables(
  tables: readonly NamedTable[],
  clock: () => number,
  inspection: Inspection,
): AsyncGenerator<StoreEntry, void, undefined> {
  for (const { prefix, name, table } of tables) {
    const keyspace = inspection.isIn(prefix) ? inspectedKeyspace(name) : undefined
    if (keyspace === undefined || !inspection.wants(keyspace)) continue
    const { key } = inspection
    if (key !== undefined) {
      const slot = table.find(key)
      const found = { prefix, keyspace, key, isDigest: false }
      if (slot >= 0) yield entryOf(table.slots, slot, found, clock())
      continue
    }
    // The slot that keys share when there is no room for them has none of its own.
    for (let from = OVERFLOW + 1; from < table.slots.end; from += STEP) {
      const entries = entriesFrom(table.slots, from, { prefix, keyspace }, clock())
      yield* entries
      inspection.progress(Math.min(STEP, table.slots.end - from), [])
      if (inspection.onePerKeyspace && entries.length > 0) break
      await new Promise<void>(afterTurn)
    }
  }
}

function entriesFrom(
  slots: Slots,
  from: number,
  where: Pick<FoundKey, 'prefix' | 'keyspace'>,
  now: number,
): StoreEntry[] {
  const entries: StoreEntry[] = []
  for (let slot = from; slot < Math.min(from + STEP, slots.end); slot += 1) {
    const key = slots.key(slot)
    if (key === undefined) continue
    // A key that only looks like a digest is kept as a digest.
    const found = { ...where, key, isDigest: bounded(key) !== key }
    entries.push(entryOf(slots, slot, found, now))
  }
  return entries
}

function entryOf(slots: Slots, slot: number, found: FoundKey, now: number): StoreEntry {
  const { key, keyspace } = found
  const state = new KeyState()
  slots.load(slot, state)
  decideOne(state, { key, limit: keyspace.limit, cost: 0 }, now, 0)
  return toEntry(found, state, now)
}
