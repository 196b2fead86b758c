import { KeyState, type OwnTerms } from '../../algorithms/algorithm.ts'
import { Held } from '../../algorithms/held/held.ts'
import { Log } from '../../algorithms/sliding-log/log.ts'

/** Bytes of the three integers, of an entry of a log, and of a block. */
const HEAD = 24
const ENTRY = 16
const BLOCK = 8
/** Numbers of a client's own limit, and of each top-up. */
const OWN = 5
const GRANT = 4
/** In place of a number that is not there. */
const NONE = -1
/** Hexadecimal digits of an id that a double has room for. */
const HALF = 12

/**
 * A state as bytes, for a store that keeps bytes: 8 for a blocked key, else 24, and 16 more for each
 * entry of a log. What is held has 16, which no entry of a log begins as, and its entries, up to a multiple of 16.
 * What a client has of its own comes before them: 40 bytes, and 32 for each top-up. So
 * only a state with that has a multiple of 16. All numbers are little-endian doubles.
 */
export function encodeState(state: KeyState): Uint8Array {
  const { log, held, terms } = state
  const numbers = terms === undefined ? [] : numbersOf(terms)
  if (state.blockedUntil > 0) return doubles([...numbers, state.blockedUntil])
  numbers.push(state.a, state.b, state.c)
  for (let i = 0; log !== undefined && i < log.length; i += 1)
    numbers.push(log.time(i), log.cost(i))
  return held === undefined || held.length === 0 ? doubles(numbers) : withHeld(numbers, held)
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
  const extras = byteLength > head + HEAD ? -1 - view.getFloat64(head + HEAD, true) : NONE
  if (extras >= 0) {
    state.held = heldIn(view, head + HEAD, extras)
    return state
  }
  if (byteLength > head + HEAD) state.log = new Log()
  for (let at = head + HEAD; at < byteLength; at += ENTRY) {
    state.log?.push(view.getFloat64(at, true), view.getFloat64(at + 8, true))
  }
  return state
}

/** The kind of entry, below 0; the last time at which something was held; the numbers of all entries. */
function withHeld(numbers: number[], held: Held): Uint8Array {
  const entries = held.all()
  const count = numbers.length + 2 + entries.length
  const view = new DataView(new ArrayBuffer(8 * (count + (entries.length % 2))))
  const all = [...numbers, -1 - held.extras, held.clock]
  for (const [i, number] of all.entries()) view.setFloat64(8 * i, number, true)
  for (let i = 0; i < entries.length; i += 1)
    view.setFloat64(8 * (all.length + i), entries[i] as number, true)
  return new Uint8Array(view.buffer)
}

function heldIn(view: DataView, from: number, extras: number): Held {
  const numbers = new Float64Array((view.byteLength - from) / 8 - 2)
  for (let i = 0; i < numbers.length; i += 1)
    numbers[i] = view.getFloat64(from + ENTRY + 8 * i, true)
  return Held.from(extras, view.getFloat64(from + 8, true), numbers)
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

function doubles(numbers: readonly number[]): Uint8Array {
  const view = new DataView(new ArrayBuffer(8 * numbers.length))
  for (const [i, number] of numbers.entries()) view.setFloat64(8 * i, number, true)
  return new Uint8Array(view.buffer)
}
