import { randomUUID } from 'node:crypto'
import { deflateRawSync, inflateRawSync } from 'node:zlib'
import { expiryOf, type StateChange } from '@sluice/transactional'

/** So long after its time a state may still be needed, ms: a clock may step back. */
const LATE_MS = 60 * 24 * 3_600_000
/** Characters of the number of a write, with a space behind it. An item has the numbers of its last eight. */
const WRITE = 14
/** The name of a document in its item, where it is compressed: it may be larger than an item. */
const DOCUMENT = 'document'

/** An item of the table, with its types of values; undefined: there is none. */
export type Item =
  | {
      readonly id: { readonly S: string }
      /** The numbers of its last writes, the newest first. */
      readonly v: { readonly S: string }
      /** States by their names, each with the time until which it is kept, ms. */
      readonly s: { M: Record<string, { L: [{ B: Uint8Array }, { N: string }] }> }
      /** When DynamoDB may delete it, s. */
      readonly expires: { readonly N: string }
    }
  | undefined

/**
 * Where a key is: an item, and a name in it. The states of a client share an item, so that the policies of a request
 * are decided with one write. Documents, which are large, have items of their own.
 */
export function placeOf(key: string) {
  const end = key.indexOf('}:') + 1
  const name = key.slice(end)
  if (key.endsWith(':{#}', end)) return { id: key, name: DOCUMENT }
  return { id: key.slice(0, end), name }
}

export function stateIn(item: Item, name: string): Uint8Array | undefined {
  const state = item?.s?.M[name]?.L[0].B
  return state && name === DOCUMENT ? inflateRawSync(state) : state
}

/** The item after changes, which are each of a name in it. */
export function changed(
  id: string,
  item: Item,
  changes: readonly StateChange[],
  now: number,
): Item {
  const states = new Map(Object.entries(item?.s?.M ?? {}))
  for (const [name, { L }] of states) if (Number(L[1].N) < now - LATE_MS) states.delete(name)
  for (const { key, state, ttlMs } of changes) {
    const { name } = placeOf(key)
    states.delete(name)
    if (state === undefined) continue
    const B = name === DOCUMENT ? deflateRawSync(state) : state
    states.set(name, { L: [{ B }, { N: String(expiryOf(now, ttlMs)) }] })
  }
  const until = Math.max(now, ...[...states.values()].map(({ L }) => Number(L[1].N)))
  const version = `${randomUUID().slice(0, WRITE - 1)} ${item?.v?.S ?? ''}`
  return {
    id: { S: id },
    v: { S: version.slice(0, 8 * WRITE) },
    s: { M: Object.fromEntries(states) },
    expires: { N: String(Math.ceil(until / 1000)) },
  }
}

/** About the memory that an item takes, bytes. */
export function bytesOf(item: Item): number {
  return Object.values(item?.s?.M ?? {}).reduce((sum, { L }) => sum + 200 + L[0].B.length, 1000)
}

/** Whether a write is among the last ones of an item: its answer was lost, and the SDK has sent it again. */
export function hasWritten(written: Item, found: Item): boolean {
  return written !== undefined && found?.v?.S.includes(written.v.S.slice(0, WRITE)) === true
}
