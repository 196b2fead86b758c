/** Bits of a number that each byte has. */
const BASE = 128
/** Bytes of the largest number, 2^53 − 1. */
const LONGEST = 8

/** Writes integers of 0 … 2^53 − 1, small ones in few bytes: 7 bits in each, the lowest first. */
export class NumberWriter {
  private bytes = new Uint8Array(512)
  private length = 0

  put(number: number): void {
    if (this.length + LONGEST > this.bytes.length) this.grow()
    let rest = number
    for (; rest >= BASE; rest = Math.floor(rest / BASE))
      this.bytes[this.length++] = (rest % BASE) + BASE
    this.bytes[this.length++] = rest
  }

  /** A copy of the bytes. */
  done(): Uint8Array {
    return this.bytes.slice(0, this.length)
  }

  private grow(): void {
    const { bytes } = this
    this.bytes = new Uint8Array(2 * bytes.length)
    this.bytes.set(bytes)
  }
}

/** Reads what {@link NumberWriter} wrote. Behind the end there are zeros. */
export class NumberReader {
  private readonly bytes: Uint8Array
  private at = 0

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
  }

  next(): number {
    let number = 0
    for (let weight = 1; ; weight *= BASE) {
      const byte = this.bytes[this.at++] ?? 0
      if (byte < BASE) return number + byte * weight
      number += (byte - BASE) * weight
    }
  }
}
