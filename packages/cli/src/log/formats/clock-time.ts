const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
const ZERO = 0x30
const CLOSE = 0x5d
const SPACE = 0x20
const PLUS = 0x2b
const MINUS = 0x2d
/** `21/Nov/2026:14:33:45`: after it comes ` +0000`, or nothing. */
const DATE = 20
const ZONE = 6

/**
 * Reads the times of access logs, `21/Nov/2026:14:33:45 +0000]`; without a zone they are UTC. The
 * last one is remembered: many lines have the same second.
 */
export class ClockTime {
  /** The length of the time that was read, in bytes. */
  length = 0
  readonly #last = new Uint8Array(DATE + ZONE + 1)
  #lastMs = Number.NaN

  /** Ms since the epoch, of the time that ends with `]`; NaN if there is none. */
  read(bytes: Buffer, start: number): number {
    for (let i = this.length; i >= 0; i -= 1) {
      if (bytes[start + i] !== this.#last[i]) return this.#readAnew(bytes, start)
    }
    return this.#lastMs
  }

  #readAnew(bytes: Buffer, start: number): number {
    const length = bytes[start + DATE] === CLOSE ? DATE : DATE + ZONE
    if (bytes[start + length] !== CLOSE) return Number.NaN
    const at = parse(bytes, start) - (length === DATE ? 0 : zone(bytes, start + DATE))
    if (Number.isNaN(at)) return at
    bytes.copy(this.#last, 0, start, start + length + 1)
    this.length = length
    this.#lastMs = at
    return at
  }
}

function parse(bytes: Buffer, start: number): number {
  const shape = String.fromCharCode(
    bytes[start + 2] as number,
    bytes[start + 6] as number,
    bytes[start + 11] as number,
    bytes[start + 14] as number,
    bytes[start + 17] as number,
  )
  const month = MONTHS.indexOf(bytes.toString('latin1', start + 3, start + 6))
  const day = digits(bytes, start, 2)
  const hour = digits(bytes, start + 12, 2)
  const minute = digits(bytes, start + 15, 2)
  const second = digits(bytes, start + 18, 2)
  if (shape !== '//:::' || month < 0) return Number.NaN
  // A second more than 59: a leap second.
  if (!(day >= 1 && day <= 31 && hour <= 23 && minute <= 59 && second <= 60)) return Number.NaN
  // Date.UTC takes 99 for 1999.
  const year = Math.max(100, digits(bytes, start + 7, 4))
  return Date.UTC(year, month, day, hour, minute, second)
}

/** ms east of Greenwich, of ` +hhmm`. */
function zone(bytes: Buffer, start: number): number {
  const sign = bytes[start + 1]
  if (bytes[start] !== SPACE || (sign !== PLUS && sign !== MINUS)) return Number.NaN
  const minutes = digits(bytes, start + 2, 2) * 60 + digits(bytes, start + 4, 2)
  return (sign === PLUS ? minutes : -minutes) * 60_000
}

function digits(bytes: Buffer, start: number, count: number): number {
  let value = 0
  for (let i = start; i < start + count; i += 1) {
    const digit = (bytes[i] as number) - ZERO
    if (!(digit >= 0 && digit <= 9)) return Number.NaN
    value = value * 10 + digit
  }
  return value
}
