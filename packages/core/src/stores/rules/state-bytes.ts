import { KeyState, type OwnTerms } from '../../algorithms/algorithm.ts'
import { decodeEntries, doubles, type Entries, encodeEntries } from './entry-bytes.ts'

/** Bytes of the three integers, and of a block; what entries have is a multiple of the third. */
const HEAD = 24
const BLOCK = 8
const ENTRY = 16
/** Numbers of a client's own limit, and of each top-up. */
const OWN = 5
const GRANT = 4
/** In place of a number that is not there. */
const NONE = -1
/** Hexadecimal digits of an id that a double has room for. */
const HALF = 12

/**
 * A state as bytes, for a store that keeps bytes: 8 for a blocked key, else 24, and its entries behind them.
 * What a client has of its own comes before them: 40 bytes, and 32 for each top-up. So
 * only a state with that has a multiple of 16. All numbers are little-endian doubles.
 *
 * @param entries its entries, a multiple of 16 bytes. Default: all of them, see {@link encodeEntries}
 */
export function encodeState(state: KeyState, entries = encodeEntries(state)): Uint8Array {
  const { terms } = state
  const numbers = terms === undefined ? [] : numbersOf(terms)
  if (state.blockedUntil > 0) return doubles([...numbers, state.blockedUntil])
  const head = doubles([...numbers, state.a, state.b, state.c])
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
  let head = 0
  if (byteLength > 0 && byteLength % ENTRY === 0) {
    state.terms = termsIn(view)
    head = 8 * (OWN + GRANT * state.terms.grants.length)
  }
  if (byteLength - head === BLOCK) {
    state.blockedUntil = view.getFloat64(head, true)
    return state
  }
  if (byteLength - head < HEAD || (byteLength - head - HEAD) % ENTRY !== 0)
    throw noState(byteLength)
  state.a = view.getFloat64(head, true)
  state.b = view.getFloat64(head + 8, true)
  state.c = view.getFloat64(head + 16, true)
  const from = head + HEAD
  if (byteLength > from) read(state, new DataView(buffer, byteOffset + from, byteLength - from))
  return state
}

/** How many top-ups; until when (0: there is no override), limit, burst and delay; each top-up. */
function numbersOf({ override, grants }: OwnTerms): number[] {
  const { until = 0, limit = NONE, burst = NONE, maxDelayMs = NONE } = override ?? {}
  const numbers = [grants.length, until, limit, burst, maxDelayMs]
  for (const { until, units, id } of grants) numbers.push(until, units, ...halvesOf(id))
  return numbers
}

function termsIn(view: DataView): OwnTerms {
  const number = (i: number) => view.getFloat64(8 * i, true)
  const size = view.byteLength / 8
  const count = size > OWN ? number(0) : NONE
  if (!(count >= 0 && count % 1 === 0 && OWN + GRANT * count < size)) throw noState(view.byteLength)
  const [until, limit, burst, maxDelayMs] = [1, 2, 3, 4].map(number) as Quadruple
  const option = (value: number) => (value === NONE ? undefined : value)
  return {
    override:
      until > 0
        ? { until, limit, burst: option(burst), maxDelayMs: option(maxDelayMs) }
        : undefined,
    grants: Array.from({ length: count }, (_, i) => {
      const at = OWN + GRANT * i
      return { until: number(at), units: number(at + 1), id: idOf(number(at + 2), number(at + 3)) }
    }),
  }
}

type Quadruple = [number, number, number, number]

/** An id of 24 hexadecimal digits as two numbers. */
export function halvesOf(id: string): [number, number] {
  return id === '' ? [0, 0] : [parseInt(id.slice(0, HALF), 16), parseInt(id.slice(HALF), 16)]
}

function idOf(first: number, second: number): string {
  const digits = (half: number) => half.toString(16).padStart(HALF, '0')
  return first === 0 && second === 0 ? '' : digits(first) + digits(second)
}

function noState(byteLength: number): RangeError {
  return new RangeError(`${byteLength} bytes are no state of a rate limit`)
}
