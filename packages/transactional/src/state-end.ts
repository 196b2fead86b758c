import { doubles, viewOf } from '@sluice/core/internal-stores'

// A store with transactions keeps behind each state the time (ms) until which it lives, as Redis does: a little-endian
// double. By half a millisecond in it, the state is marked: its client may have a record of its own (`encodeOwn`). The
// client of a state that is not marked has none until then, so that a decision reads the state alone.

/** Bytes of the time. */
const END = 8
/** A state is so many bytes more than a multiple of the second; without a time behind it, it is of another version. */
const REST = 8
const ENTRY = 16
/** Above it, doubles have no room for half a millisecond. */
const LATEST = 2 ** 52 - 1

/** @param end ms */
export function withEnd(state: Uint8Array, end: number, isMarked: boolean): Uint8Array {
  const bytes = new Uint8Array(state.length + END)
  bytes.set(state)
  bytes.set(doubles([isMarked ? marked(end) : end]), state.length)
  return bytes
}

/** Marks a state. @param bytes what {@link withEnd} gave */
export function markState(bytes: Uint8Array): Uint8Array {
  return withEnd(bytes.subarray(0, -END), endOf(bytes), true)
}

/** A state without its end. */
export function stateIn(bytes: Uint8Array | undefined): Uint8Array | undefined {
  return bytes && hasEnd(bytes) ? bytes.subarray(0, -END) : bytes
}

/** When a state ends that is not marked, ms; 0: there is none, or it is marked. */
export function unmarkedUntil(bytes: Uint8Array | undefined): number {
  if (bytes === undefined || !hasEnd(bytes)) return 0
  const end = endOf(bytes)
  return Number.isSafeInteger(end) ? end : 0
}

function marked(end: number): number {
  return Math.min(end, LATEST) + 0.5
}

function hasEnd({ length }: Uint8Array): boolean {
  return (length - END) % ENTRY === REST
}

function endOf(bytes: Uint8Array): number {
  return viewOf(bytes).getFloat64(bytes.length - END, true)
}
