import type { OwnTerms } from '../../algorithms/algorithm.ts'
import { doubles, viewOf } from './numbers.ts'

/** Numbers of a record before its top-ups, and of each of these. */
export const OWN_NUMBERS = 5
export const GRANT_NUMBERS = 4
/** In place of an option that is left out. */
const LEFT_OUT = -1
/** Hexadecimal digits of an id that a double has room for. */
const HALF = 12

/**
 * Writes a client's own limit, top-ups and block: until when it is blocked (ms; 0: it is not); until when it has
 * a limit of its own (ms; 0: it has none), that limit, its burst (units) and delay (ms), each -1 where it is left out;
 * then each top-up: until when (ms), units, and the two halves of its id. All are little-endian doubles. The scripts
 * of Redis read and write the same.
 */
export function encodeOwn({ override, grants, blockedUntil }: OwnTerms): Uint8Array {
  const { until = 0, limit = LEFT_OUT, burst = LEFT_OUT, maxDelayMs = LEFT_OUT } = override ?? {}
  const numbers = [blockedUntil, until, limit, burst, maxDelayMs]
  for (const { until, units, id } of grants) numbers.push(until, units, ...halvesOf(id))
  return doubles(numbers)
}

/**
 * Reads the bytes.
 *
 * @param bytes what {@link encodeOwn} gave; undefined: nothing
 * @throws RangeError if they are of any other length
 */
export function decodeOwn(bytes: Uint8Array | undefined): OwnTerms | undefined {
  if (bytes === undefined) return undefined
  const { byteLength } = bytes
  const count = (byteLength / 8 - OWN_NUMBERS) / GRANT_NUMBERS
  if (!(count >= 0 && count % 1 === 0))
    throw new RangeError(`${byteLength} bytes are no record of what a client has of its own`)
  const view = viewOf(bytes)
  const number = (i: number) => view.getFloat64(8 * i, true)
  const option = (i: number) => (number(i) === LEFT_OUT ? undefined : number(i))
  const until = number(1)
  return {
    override:
      until > 0 ? { until, limit: number(2), burst: option(3), maxDelayMs: option(4) } : undefined,
    grants: Array.from({ length: count }, (_, i) => {
      const at = OWN_NUMBERS + GRANT_NUMBERS * i
      return { until: number(at), units: number(at + 1), id: idOf(number(at + 2), number(at + 3)) }
    }),
    blockedUntil: number(0),
  }
}

/** An id of 24 hexadecimal digits as two numbers. */
export function halvesOf(id: string): [number, number] {
  return id === '' ? [0, 0] : [parseInt(id.slice(0, HALF), 16), parseInt(id.slice(HALF), 16)]
}

function idOf(first: number, second: number): string {
  const digits = (half: number) => half.toString(16).padStart(HALF, '0')
  return first === 0 && second === 0 ? '' : digits(first) + digits(second)
}
