import type { KeyState } from '../../algorithms/algorithm.ts'
import { HeldArray } from '../../algorithms/held/held.ts'
import { LogArray } from '../../algorithms/sliding-log/log.ts'

/** Bytes of an entry of a log, and of what comes before the entries of what is held. */
const ENTRY = 16

/** The entries of a state: none, those of a log, or slots and reservations. */
export type Entries = Pick<KeyState, 'log' | 'held'>

/**
 * All entries as bytes, a multiple of 16: of a log 16 for each. What is held has 16, which no entry of a log begins
 * as, and its entries. All numbers are little-endian doubles.
 */
export function encodeEntries({ log, held }: Entries): Uint8Array {
  if (held instanceof HeldArray && held.length > 0) return heldBytes(held)
  const numbers: number[] = []
  if (log instanceof LogArray)
    for (let i = 0; i < log.length; i += 1) numbers.push(log.time(i), log.cost(i))
  return doubles(numbers)
}

/** Gives a state the entries that the bytes hold. @param view what {@link encodeEntries} gave, not empty */
export function decodeEntries(state: Entries, view: DataView): void {
  const extras = -1 - view.getFloat64(0, true)
  if (extras >= 0) {
    state.held = heldIn(view, extras)
    return
  }
  const log = new LogArray()
  for (let at = 0; at < view.byteLength; at += ENTRY)
    log.push(view.getFloat64(at, true), view.getFloat64(at + 8, true))
  state.log = log
}

/** The kind of entry, below 0; the last time at which something was held; the numbers of all entries. */
function heldBytes(held: HeldArray): Uint8Array {
  const entries = held.all()
  const numbers = [-1 - held.extras, held.clock, ...entries]
  if (entries.length % 2 === 1) numbers.push(0)
  return doubles(numbers)
}

function heldIn(view: DataView, extras: number): HeldArray {
  const numbers = new Float64Array(view.byteLength / 8 - 2)
  for (let i = 0; i < numbers.length; i += 1) numbers[i] = view.getFloat64(ENTRY + 8 * i, true)
  return HeldArray.from(extras, view.getFloat64(8, true), numbers)
}

export function doubles(numbers: readonly number[]): Uint8Array {
  const view = new DataView(new ArrayBuffer(8 * numbers.length))
  for (let i = 0; i < numbers.length; i += 1) view.setFloat64(8 * i, numbers[i] as number, true)
  return new Uint8Array(view.buffer)
}
