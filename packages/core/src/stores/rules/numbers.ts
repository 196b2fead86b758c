/** Each byte of a number has 7 bits of it, and says by its highest bit that there are more. */
const MORE = 128
/** Integers below it can be shifted. */
const SHIFTABLE = 2 ** 31
/** Four bytes have so many bits, and numbers below. */
const BITS = 28
const FOUR_BYTES = 2 ** BITS
/** Bytes of the largest number, 2^53 − 1. */
const LONGEST = 8

/** Writes integers of 0 … 2^53 − 1, small ones in few bytes: 7 bits in each, the lowest first. */
export class NumberWriter {
  #bytes = new Uint8Array(512)
  #length = 0

  put(number: number): void {
    if (this.#length + LONGEST > this.#bytes.length) this.#grow()
    const bytes = this.#bytes
    let rest = number
    if (rest >= SHIFTABLE) {
      rest = Math.floor(number / FOUR_BYTES)
      const low = number - rest * FOUR_BYTES
      for (let shift = 0; shift < BITS; shift += 7)
        bytes[this.#length++] = ((low >>> shift) & (MORE - 1)) | MORE
    }
    for (; rest >= MORE; rest >>>= 7) bytes[this.#length++] = (rest & (MORE - 1)) | MORE
    bytes[this.#length++] = rest
  }

  /** @param number an integer of −2^52 … 2^52 − 1 */
  putSigned(number: number): void {
    this.put(number < 0 ? -2 * number - 1 : 2 * number)
  }

  /** A copy of the bytes. */
  done(): Uint8Array {
    return this.#bytes.slice(0, this.#length)
  }

  #grow(): void {
    const bytes = this.#bytes
    this.#bytes = new Uint8Array(2 * bytes.length)
    this.#bytes.set(bytes)
  }
}

/** Reads what {@link NumberWriter} wrote. Behind the end there are zeros. */
export class NumberReader {
  readonly #bytes: Uint8Array
  #at = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  /** Bytes that are not read yet. */
  get left(): number {
    return this.#bytes.length - this.#at
  }

  next(): number {
    let low = 0
    for (let shift = 0; shift < BITS; shift += 7) {
      const byte = this.#bytes[this.#at++] ?? 0
      low |= (byte & (MORE - 1)) << shift
      if (byte < MORE) return low
    }
    let number = low
    for (let weight = FOUR_BYTES; ; weight *= MORE) {
      const byte = this.#bytes[this.#at++] ?? 0
      if (byte < MORE) return number + byte * weight
      number += (byte - MORE) * weight
    }
  }

  nextSigned(): number {
    const number = this.next()
    return number % 2 === 0 ? number / 2 : -(number + 1) / 2
  }
}

/** Numbers as little-endian doubles. */
export function doubles(numbers: readonly number[]): Uint8Array {
  const bytes = new Uint8Array(8 * numbers.length)
  const view = viewOf(bytes)
  for (let i = 0; i < numbers.length; i += 1) view.setFloat64(8 * i, numbers[i] as number, true)
  return bytes
}

export function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength)
}
