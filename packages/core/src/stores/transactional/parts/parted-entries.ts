import { HeldArray } from '../../../algorithms/held/held.ts'
import type { LogArray } from '../../../algorithms/sliding-log/log.ts'
import { decodeEntries, type Entries, encodeEntries } from '../../rules/entry-bytes.ts'
import type { StateChange } from '../transactional-backend.ts'
import { NumberReader, NumberWriter } from './numbers.ts'
import { PartedHeld } from './parted-held.ts'
import { PartedLog } from './parted-log.ts'
import type { Parts } from './parts.ts'

/** The most bytes of entries that stay in the state itself: a row of 2 kB PostgreSQL keeps in its page. */
const MOST_BYTES = 1536
/** The first number of a state with parts, a double below those of all other entries: see `encodeEntries`. */
const HELD = -64
const LOG = -65
/** Bytes of entries are a multiple of it, and begin with a double. */
const ENTRY = 16
const BEGIN = 8

/** Returns the slots or reservations, or the log, in parts; undefined: all entries are in the state itself. */
export function partedOf({ held, log }: Entries): PartedHeld | PartedLog | undefined {
  if (held instanceof PartedHeld) return held
  return log instanceof PartedLog ? log : undefined
}

/**
 * The bytes of a state's entries, and what else is written. Entries that have become too many are divided; they are
 * in the state itself again when none is left.
 *
 * @param now when, ms
 * @param ttlMs how long the state is kept
 * @throws MissingKeys if that needs parts that the transaction has not read
 */
export function encodePartedEntries(state: Entries, parts: Parts, now: number, ttlMs: number) {
  const whole = partedOf(state) === undefined ? encodeEntries(state) : undefined
  if (whole !== undefined && whole.length <= MOST_BYTES) return { entries: whole, changes: [] }
  if (whole !== undefined) divide(state, parts)
  const parted = partedOf(state) as PartedHeld | PartedLog
  const numbers = new NumberWriter()
  const changes: StateChange[] = parted.encode(numbers, now, ttlMs)
  if (parted.length === 0) return { entries: new Uint8Array(), changes }
  const written = numbers.done()
  const length = Math.ceil((BEGIN + written.length) / ENTRY) * ENTRY
  const entries = new Uint8Array(length)
  new DataView(entries.buffer).setFloat64(0, parted instanceof PartedHeld ? HELD : LOG, true)
  entries.set(written, BEGIN)
  return { entries, changes }
}

/** Gives a state the entries that its bytes hold, whole or in parts. */
export function decodePartedEntries(state: Entries, view: DataView, parts: Parts): void {
  const kind = view.getFloat64(0, true)
  const { buffer, byteOffset, byteLength } = view
  const numbers = () =>
    new NumberReader(new Uint8Array(buffer, byteOffset + BEGIN, byteLength - BEGIN))
  if (kind === HELD) state.held = PartedHeld.decode(numbers(), parts)
  else if (kind === LOG) state.log = PartedLog.decode(numbers(), parts)
  else decodeEntries(state, view)
}

function divide(state: Entries, parts: Parts): void {
  if (state.held instanceof HeldArray) state.held = PartedHeld.from(state.held, parts)
  else state.log = PartedLog.from(state.log as LogArray, parts)
}
