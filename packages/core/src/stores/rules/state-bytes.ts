import { KeyState } from '../../algorithms/algorithm.ts'
import { decodeEntries, doubles, type Entries, encodeEntries } from './entry-bytes.ts'

/** Bytes of the three integers; what entries have is a multiple of the second. */
const HEAD = 24
const ENTRY = 16

/**
 * The count of a state as bytes, for a store that keeps bytes: 24, and its entries behind them. All numbers are
 * little-endian doubles.
 *
 * @param entries its entries, a multiple of 16 bytes. Default: all of them, see {@link encodeEntries}
 */
export function encodeState(
  state: KeyState,
  entries: Uint8Array = encodeEntries(state),
): Uint8Array {
  const head = doubles([state.a, state.b, state.c])
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
 * @param read gives the state its entries. Default: all of them are there
 * @throws RangeError if they are of any other length
 */
export function decodeState(
  bytes: Uint8Array | undefined,
  read: (state: Entries, view: DataView) => void = decodeEntries,
): KeyState {
  const state = new KeyState()
  if (bytes === undefined) return state
  const { buffer, byteOffset, byteLength } = bytes
  const view = new DataView(buffer, byteOffset, byteLength)
  if (byteLength < HEAD || (byteLength - HEAD) % ENTRY !== 0)
    throw new RangeError(`${byteLength} bytes are no state of a rate limit`)
  state.a = view.getFloat64(0, true)
  state.b = view.getFloat64(8, true)
  state.c = view.getFloat64(16, true)
  if (byteLength > HEAD) read(state, new DataView(buffer, byteOffset + HEAD, byteLength - HEAD))
  return state
}
