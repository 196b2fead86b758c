import { afterTurn } from '#platform'
import { KeyState } from '../../algorithms/algorithm.ts'
import { bounded } from '../../key/digest.ts'
import { shardLength } from '../../key/notation.ts'
import type { Wanted } from '../inspection/inspect-options.ts'
import { entryOf } from '../inspection/inspected-keyspace.ts'
import { Inspection } from '../inspection/inspection.ts'
import { formatParams } from '../inspection/keyspace-text.ts'
import { current } from '../rules/own-terms.ts'
import type { StoreEntry } from '../store.ts'
import { OVERFLOW, type Table } from './table.ts'

/** Rows that are read in one turn of the event loop. */
const STEP = 1000

/** Reads some rows of a table, lets requests be decided, and reads on. */
export async function* inspectTables(
  tables: readonly Table[],
  clock: () => number,
  wanted: Wanted,
): AsyncGenerator<StoreEntry, void, undefined> {
  const inspection = new Inspection(wanted)
  for (const table of tables) {
    const { prefix, name } = table
    const keyspace = inspection.keyspaceOf(prefix, name)
    if (!keyspace) continue
    const params = table.keyspace?.params
    if (params !== undefined) keyspace.learn(formatParams(params))
    const read = (row: number, key: string, isDigest: boolean, now: number) => {
      const state = new KeyState()
      if (row >= 0) table.load(row, state)
      state.terms = table.own.terms.get(key)
      return entryOf({ prefix, keyspace, key, isDigest }, state, now)
    }
    const { key } = inspection
    if (key !== undefined) {
      const row = table.find(key)
      const own = current(table.own.get(key), clock())
      if (row >= 0 || own !== undefined) yield { ...read(row, bounded(key), false, clock()), key }
      if (shardLength(key) > 0) continue
    }
    const isWanted = (id: string) => key === undefined || isInShard(id, key)
    let isFound = false
    // The row that keys share when there is no room for them has none of its own.
    for (let from = OVERFLOW + 1; from < table.end; from += STEP) {
      const now = clock()
      const entries: StoreEntry[] = []
      for (let row = from; row < Math.min(from + STEP, table.end); row += 1) {
        const id = table.key(row)
        // A key that only looks like a digest is kept as a digest.
        if (id !== undefined && isWanted(id)) entries.push(read(row, id, bounded(id) !== id, now))
      }
      yield* entries
      inspection.progress(Math.min(STEP, table.end - from), [])
      isFound ||= entries.length > 0
      if (inspection.onePerKeyspace && isFound) break
      await new Promise<void>(afterTurn)
    }
    if (!isFound || !inspection.onePerKeyspace) yield* withoutRow(table, clock, isWanted, read)
  }
}

/** The keys that have something of their own, but have counted nothing. */
async function* withoutRow(
  table: Table,
  clock: () => number,
  isWanted: (id: string) => boolean,
  read: (row: number, key: string, isDigest: boolean, now: number) => StoreEntry,
): AsyncGenerator<StoreEntry, void, undefined> {
  let looked = 0
  for (const [id, terms] of table.own.terms) {
    const now = clock()
    if (isWanted(id) && table.findKept(id) < 0 && current(terms, now) !== undefined)
      yield read(-1, id, bounded(id) !== id, now)
    looked += 1
    if (looked % STEP === 0) await new Promise<void>(afterTurn)
  }
}

/** Whether a key is that of this client, in any shard: a key so long that it is kept as a digest can't be told. */
function isInShard(id: string, client: string): boolean {
  const length = shardLength(id)
  return length > 0 && id.length === length + client.length && id.endsWith(client)
}
