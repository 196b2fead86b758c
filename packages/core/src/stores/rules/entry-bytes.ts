import type { KeyState } from '../../algorithms/algorithm.ts'
import { Held } from '../../algorithms/held/held.ts'
import { Log } from '../../algorithms/sliding-log/log.ts'
import { NumberReader, NumberWriter, viewOf } from './numbers.ts'

/** Bytes of entries are a multiple of it, and begin with a double: what they are. */
const ENTRY = 16
const KIND = 8
/** A log. What is held has 1, and 1 more for each number of an entry besides its own. */
const LOG = 0
const MOST_EXTRAS = 16

/** The entries of a state: none, those of a log, or slots and reservations. */
type Entries = Pick<KeyState, 'log' | 'held'>

/** All entries as bytes, a multiple of 16. */
export function encodeEntries({ log, held }: Entries): Uint8Array {
  const numbers = new NumberWriter()
  if (held !== undefined && held.length > 0) {
    putHeld(numbers, held)
    return ofKind(1 + held.extras, numbers)
  }
  if (log === undefined || log.length === 0) return new Uint8Array()
  numbers.put(log.length)
  let before = 0
  for (let i = 0; i < log.length; i += 1) {
    const time = log.time(i)
    numbers.put(time - before)
    numbers.put(log.cost(i))
    before = time
  }
  return ofKind(LOG, numbers)
}

/**
 * Gives a state the entries that the bytes hold.
 *
 * @param bytes what {@link encodeEntries} gave, not empty
 * @throws RangeError if it is anything else
 */
export function decodeEntries(state: Entries, bytes: Uint8Array): void {
  const kind = viewOf(bytes).getFloat64(0, true)
  const numbers = new NumberReader(bytes.subarray(KIND))
  if (Number.isInteger(kind) && kind > LOG && kind <= 1 + MOST_EXTRAS) {
    state.held = takeHeld(numbers, kind - 1)
    return
  }
  const length = numbers.next()
  // An entry has two bytes at least.
  if (kind !== LOG || 2 * length > bytes.length) throw unknownEntries(kind)
  const log = new Log()
  let time = 0
  for (let count = length; count > 0; count -= 1) {
    time += numbers.next()
    log.push(time, numbers.next())
  }
  state.log = log
}

/** The numbers as bytes of entries. @param kind a double that tells them apart */
function ofKind(kind: number, numbers: NumberWriter): Uint8Array {
  const written = numbers.done()
  const bytes = new Uint8Array(Math.ceil((KIND + written.length) / ENTRY) * ENTRY)
  viewOf(bytes).setFloat64(0, kind, true)
  bytes.set(written, KIND)
  return bytes
}

function putHeld(numbers: NumberWriter, held: Held): void {
  const all = held.all()
  const width = 3 + held.extras
  numbers.put(held.clock)
  numbers.put(held.length)
  for (let i = 0; i < all.length; i += 1) {
    const number = all[i] as number
    if (isNearby(i % width)) numbers.putSigned(number - (all[i - width] ?? 0))
    else numbers.put(number)
  }
}

/** Reads what {@link putHeld} wrote. */
function takeHeld(numbers: NumberReader, extras: number): Held {
  const width = 3 + extras
  const clock = numbers.next()
  const length = numbers.next()
  if (width * length > numbers.left) throw unknownEntries(1 + extras)
  const all = new Float64Array(width * length)
  for (let i = 0; i < all.length; i += 1)
    all[i] = isNearby(i % width) ? numbers.nextSigned() + (all[i - width] ?? 0) : numbers.next()
  return Held.from(extras, clock, all)
}

function unknownEntries(kind: number): RangeError {
  return new RangeError(`entries of the kind ${kind} are no state of a rate limit`)
}

/** Whether a number of an entry is much as that of the entry before: when it ends, for how long it is held, when it was charged. */
function isNearby(place: number): boolean {
  return place === 0 || place === 2 || place === 3
}
