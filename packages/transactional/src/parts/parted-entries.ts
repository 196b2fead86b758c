import {
  decodeEntries,
  type Entries,
  encodeEntries,
  entryKindOf,
  HeldArray,
  NumberWriter,
  numberReader,
  ofKind,
} from '@sluice/core/internal-stores'
import type { StateChange } from '../transactional-backend.ts'
import { PartedHeld } from './parted-held.ts'
import type { Parts } from './parts.ts'

/** The most bytes of reservations that stay in the state itself: a row of 2 kB PostgreSQL keeps in its page. */
const MOST_BYTES = 1536
/** A state with parts: below the kinds of all other entries. */
const PARTED = -64

/** Returns the reservations in parts; undefined: all entries are in the state itself. */
export function partedOf({ held }: Entries): PartedHeld | undefined {
  return held instanceof PartedHeld ? held : undefined
}

/**
 * The bytes of a state's entries, and what else is written. Reservations that have become too many are divided; they
 * are in the state itself again when none is left.
 *
 * @param now when, ms
 * @param ttlMs how long the state is kept
 * @throws MissingKeys if that needs parts that the transaction has not read
 */
export function encodePartedEntries(state: Entries, parts: Parts, now: number, ttlMs: number) {
  const { held } = state
  if (held instanceof HeldArray || held === undefined) {
    const entries = encodeEntries(state)
    const isWhole = held === undefined || held.extras === 0 || entries.length <= MOST_BYTES
    if (isWhole) return { entries, changes: [] }
  }
  const parted = held instanceof PartedHeld ? held : PartedHeld.from(held as HeldArray, parts)
  state.held = parted
  const numbers = new NumberWriter()
  const changes: StateChange[] = parted.encode(numbers, now, ttlMs)
  const entries = parted.length === 0 ? new Uint8Array() : ofKind(PARTED, numbers)
  return { entries, changes }
}

/** Gives a state the entries that its bytes hold, whole or in parts. */
export function decodePartedEntries(state: Entries, view: DataView, parts: Parts): void {
  if (entryKindOf(view) === PARTED) state.held = PartedHeld.decode(numberReader(view), parts)
  else decodeEntries(state, view)
}
