import { afterTurn } from '#platform'
import { KeyState } from '../../algorithms/algorithm.ts'
import { bounded } from '../../key/digest.ts'
import type { Inspection } from '../inspection/inspect-options.ts'
import { inspectedKeyspace } from '../inspection/inspected-keyspace.ts'
import { type FoundKey, toEntry } from '../inspection/to-entry.ts'
import { decideOne } from '../rules/decide-all.ts'
import type { StoreEntry } from '../store.ts'
import { OVERFLOW, type Rows } from './rows.ts'
import type { Table } from './table.ts'

/** Rows that are read in one turn of the event loop. */
const STEP = 1000

/** A table, and where its keys are. */
export interface NamedTable {
  readonly prefix: string
  /** The name of the keyspace. */
  readonly name: string
  readonly table: Table
}

/** Reads some rows of a table, lets requests be decided, and reads on. */
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
      const row = table.find(key)
      const found = { prefix, keyspace, key, isDigest: false }
      if (row >= 0) yield entryOf(table.rows, row, found, clock())
      continue
    }
    // The row that keys share when there is no room for them has none of its own.
    for (let from = OVERFLOW + 1; from < table.rows.end; from += STEP) {
      const entries = entriesFrom(table.rows, from, { prefix, keyspace }, clock())
      yield* entries
      inspection.progress(Math.min(STEP, table.rows.end - from), [])
      if (inspection.onePerKeyspace && entries.length > 0) break
      await new Promise<void>(afterTurn)
    }
  }
}

function entriesFrom(
  rows: Rows,
  from: number,
  where: Pick<FoundKey, 'prefix' | 'keyspace'>,
  now: number,
): StoreEntry[] {
  const entries: StoreEntry[] = []
  for (let row = from; row < Math.min(from + STEP, rows.end); row += 1) {
    const key = rows.key(row)
    if (key === undefined) continue
    // A key that only looks like a digest is kept as a digest.
    const found = { ...where, key, isDigest: bounded(key) !== key }
    entries.push(entryOf(rows, row, found, now))
  }
  return entries
}

function entryOf(rows: Rows, row: number, found: FoundKey, now: number): StoreEntry {
  const state = new KeyState()
  rows.load(row, state)
  decideOne(state, found.keyspace, now, 0)
  return toEntry(found, state, now)
}
