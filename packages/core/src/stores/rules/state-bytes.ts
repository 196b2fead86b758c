import { KeyState } from '../../algorithms/algorithm.ts'
import { decodeEntries, encodeEntries } from './entry-bytes.ts'
import { doubles, viewOf } from './numbers.ts'

/** Bytes of the three integers; what entries have is a multiple of the second. */
const HEAD = 24
const ENTRY = 16

/**
 * The count of a state as bytes, for a store that keeps bytes: 24, and its entries behind them, a multiple of 16. All
 * numbers are little-endian doubles, but those of entries.
 */
export function encodeState(state: KeyState): Uint8Array {
  const head = doubles([state.a, state.b, state.c])
  const entries = encodeEntries(state)
  if (entries.length === 0) return head
  const bytes = new Uint8Array(head.length + entries.length)
  bytes.set(head)
  bytes.set(entries, head.length)
  return bytes
}

/**
 * The state that the bytes hold.
 *
 * @param bytes what {@link encodeState} gave; undefined: a key never seen
 * @throws RangeError if they are of any other length
 */
export function decodeState(bytes: Uint8Array | undefined): KeyState {
  const state = new KeyState()
  if (bytes === undefined) return state
  const { byteLength } = bytes
  const view = viewOf(bytes)
  if (byteLength < HEAD || (byteLength - HEAD) % ENTRY !== 0)
    throw new RangeError(`${byteLength} bytes are no state of a rate limit`)
  state.a = view.getFloat64(0, true)
  state.b = view.getFloat64(8, true)
  state.c = view.getFloat64(16, true)
  if (byteLength > HEAD) decodeEntries(state, bytes.subarray(HEAD))
  return state
}
