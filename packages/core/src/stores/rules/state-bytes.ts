import { KeyState } from '../../algorithms/algorithm.ts'
import { Log } from '../../algorithms/sliding-log/log.ts'

/** Bytes of the three integers, of an entry of a log, and of a block. */
const HEAD = 24
const ENTRY = 16
const BLOCK = 8

/**
 * A state as bytes, for a store that keeps bytes: 8 for a blocked key, else 24, and 16 more for each
 * entry of a log. All numbers are little-endian doubles.
 */
export function encodeState(state: KeyState): Uint8Array {
  const { log } = state
  if (state.blockedUntil > 0) return doubles([state.blockedUntil])
  const numbers = [state.a, state.b, state.c]
  for (let i = 0; log !== undefined && i < log.length; i += 1)
    numbers.push(log.time(i), log.cost(i))
  return doubles(numbers)
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
  const view = new DataView(bytes.buffer, bytes.byteOffset, byteLength)
  if (byteLength === BLOCK) {
    state.blockedUntil = view.getFloat64(0, true)
    return state
  }
  if (byteLength < HEAD || (byteLength - HEAD) % ENTRY !== 0) {
    throw new RangeError(`${byteLength} bytes are no state of a rate limit`)
  }
  state.a = view.getFloat64(0, true)
  state.b = view.getFloat64(8, true)
  state.c = view.getFloat64(16, true)
  if (byteLength > HEAD) state.log = new Log()
  for (let at = HEAD; at < byteLength; at += ENTRY) {
    state.log?.push(view.getFloat64(at, true), view.getFloat64(at + 8, true))
  }
  return state
}

function doubles(numbers: readonly number[]): Uint8Array {
  const view = new DataView(new ArrayBuffer(8 * numbers.length))
  for (const [i, number] of numbers.entries()) view.setFloat64(8 * i, number, true)
  return new Uint8Array(view.buffer)
}
