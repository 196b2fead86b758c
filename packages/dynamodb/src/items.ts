import { deflateRawSync, inflateRawSync } from 'node:zlib'
import type { AttributeValue } from '@aws-sdk/client-dynamodb'
import { expiryOf, type StateChange } from '@sluice/transactional'

/** Bytes of the number that each write of an item has, */
const WRITE = 8
/** and how many of the last ones the version of an item has. */
const WRITES = 8
/** Bytes before each state: until when it is kept, ms, a little-endian double. */
const UNTIL = 8
/** So long after its time a state may still be needed, ms: a clock may step back. */
const LATE_MS = 60 * 24 * 3_600_000
/** The name of a document in its item, compressed: it may have more bytes than an item. */
const DOCUMENT = 'document'
/** The most items that a process remembers, and the most bytes of them. */
const MAX_ITEMS = 10_000
const MAX_BYTES = 16_000_000

/** An item of the table. */
export interface Item {
  /** The numbers of its last writes, the newest first. Undefined: there is no item. */
  readonly version: Uint8Array | undefined
  /** What is kept, by the ends of the keys. */
  readonly states: ReadonlyMap<string, Uint8Array>
}

export const NO_ITEM: Item = { version: undefined, states: new Map() }

/** Where a key is: an item, and a name in it. */
export interface Place {
  readonly id: string
  readonly name: string
}

/**
 * The states of a client share an item, so that the policies of a request are decided with one write. Parts of states
 * and documents, which are large, have items of their own.
 */
export function placeOf(key: string): Place {
  const end = key.indexOf('}:') + 1
  const name = key.slice(end)
  if (key.endsWith(':{#}', end)) return { id: key, name: DOCUMENT }
  if (name.startsWith(':#')) return { id: key, name }
  return { id: key.slice(0, end), name }
}

export function stateIn(item: Item, { name }: Place): Uint8Array | undefined {
  const state = item.states.get(name)?.subarray(UNTIL)
  return state && name === DOCUMENT ? inflateRawSync(state) : state
}

/**
 * Changes what an item has.
 *
 * @param changes what becomes of each name in the item
 * @returns the item after that write
 */
export function changed(item: Item, changes: ReadonlyMap<string, StateChange>, now: number): Item {
  const states = new Map([...item.states].filter(([, kept]) => untilOf(kept) > now - LATE_MS))
  for (const [name, { state, ttlMs }] of changes) {
    if (state === undefined) states.delete(name)
    else {
      const kept = name === DOCUMENT ? deflateRawSync(state) : state
      states.set(name, joined(bytesOf(expiryOf(now, ttlMs)), kept))
    }
  }
  const written = crypto.getRandomValues(new Uint8Array(WRITE))
  const version = joined(written, item.version ?? new Uint8Array()).subarray(0, WRITE * WRITES)
  return { version, states }
}

/** Whether a write is among the last ones of an item: its answer was lost, and the SDK has sent it again. */
export function hasWritten({ version: own }: Item, { version }: Item): boolean {
  const writes = Buffer.from(version ?? [])
  for (let at = 0; at < writes.length; at += WRITE)
    if (writes.subarray(at, at + WRITE).equals(own?.subarray(0, WRITE) ?? writes)) return true
  return false
}

export function itemOf(found: Record<string, AttributeValue> | undefined): Item {
  const states = new Map<string, Uint8Array>()
  for (const [name, { B }] of Object.entries(found?.s?.M ?? {})) if (B) states.set(name, B)
  return { version: found?.v?.B, states }
}

export function attributesOf(id: string, { version, states }: Item, now: number) {
  const until = Math.max(now, ...[...states.values()].map(untilOf))
  const kept = [...states].map(([name, B]) => [name, { B }] as const)
  return {
    id: { S: id },
    v: { B: version as Uint8Array },
    s: { M: Object.fromEntries(kept) },
    expires: { N: String(Math.ceil(until / 1000)) },
  }
}

/** The items that a process used last. */
export class RememberedItems {
  readonly #byId = new Map<string, Item>()
  #bytes = 0

  get(id: string): Item | undefined {
    return this.#byId.get(id)
  }

  /** @param item undefined: it is forgotten */
  set(id: string, item: Item | undefined): void {
    this.#bytes -= sizeOf(this.#byId.get(id))
    // The newest is the last.
    this.#byId.delete(id)
    if (item === undefined) return
    this.#byId.set(id, item)
    this.#bytes += sizeOf(item)
    if (this.#byId.size > MAX_ITEMS || this.#bytes > MAX_BYTES)
      this.set(this.#byId.keys().next().value as string, undefined)
  }
}

function sizeOf(item: Item | undefined): number {
  return [...(item?.states.values() ?? [])].reduce((sum, { length }) => sum + length, 0)
}

function untilOf({ buffer, byteOffset }: Uint8Array): number {
  return new DataView(buffer, byteOffset).getFloat64(0, true)
}

function bytesOf(until: number): Uint8Array {
  return new Uint8Array(new Float64Array([until]).buffer)
}

function joined(head: Uint8Array, tail: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(head.length + tail.length)
  bytes.set(head)
  bytes.set(tail, head.length)
  return bytes
}
