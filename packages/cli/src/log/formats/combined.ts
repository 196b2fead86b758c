import type { Clients } from '../clients.ts'
import type { LogEntry } from '../log-entry.ts'
import { ClockTime } from './clock-time.ts'
import { type DurationField, readDuration, setDuration } from './duration.ts'
import { unescapeField } from './escapes.ts'
import type { LineFormat } from './line-format.ts'
import type { Reading } from './reading.ts'
import { readRequest } from './request-line.ts'
import { whyOutOfReach } from './time.ts'

const SPACE = 0x20
const QUOTE = 0x22
const BACKSLASH = 0x5c
const OPEN = 0x5b
const DASH = 0x2d

/**
 * The combined log of nginx and Apache, and the common log, which is its first half:
 * `address identity user [time] "request" status bytes "referer" "user agent"`.
 */
export class CombinedFormat implements LineFormat {
  readonly #clients: Clients
  readonly #byUser: boolean
  readonly #duration: DurationField | undefined
  readonly #whole: boolean
  readonly #clock = new ClockTime()

  constructor({ clients, fields, duration, whole }: Reading) {
    this.#duration = duration
    this.#clients = clients
    this.#byUser = fields.key === 'user'
    this.#whole = whole
  }

  read(bytes: Buffer, start: number, end: number, entry: LogEntry): string | undefined {
    const addressEnd = find(bytes, SPACE, start, end)
    const userStart = find(bytes, SPACE, addressEnd + 1, end) + 1
    if (addressEnd === start || userStart >= end)
      return 'no address, identity and user at its start'
    let open = userStart
    let time = Number.NaN
    // A user's name may contain spaces and brackets.
    while (Number.isNaN(time)) {
      open = find(bytes, OPEN, open + 1, end)
      if (open === end) return 'no [time] such as [21/Nov/2026:14:33:45 +0000]'
      if (bytes[open - 1] === SPACE) time = this.#clock.read(bytes, open + 1)
    }
    const request = open + this.#clock.length + 4
    if (bytes[request - 1] !== QUOTE || request > end) return 'no "request" after the time'
    const requestEnd = closing(bytes, request, end)
    const status = requestEnd + 2
    if (requestEnd === end) return 'the "request" does not end'
    if (status >= end) return 'no status after the request'

    const outOfReach = whyOutOfReach(time)
    if (outOfReach !== undefined) return outOfReach

    entry.time = time
    if (this.#duration !== undefined) {
      const last = bytes.lastIndexOf(SPACE, end - 1) + 1
      const word = last > status ? bytes.toString('latin1', last, end) : undefined
      const ms = readDuration(word, this.#duration)
      if (ms === undefined) return 'no duration at its end'
      setDuration(entry, ms, this.#duration)
    }
    if (this.#byUser && !isDash(bytes, userStart, open - 1)) {
      entry.client = this.#clients.number(`user:${text(bytes, userStart, open - 1)}`)
    } else {
      entry.client = this.#clients.numberOf(bytes, start, addressEnd)
    }
    if (this.#whole) {
      entry.ip = bytes.toString('latin1', start, addressEnd)
      const user = text(bytes, userStart, open - 1)
      entry.user = user === '-' ? undefined : { id: user }
      readRequest(entry, text(bytes, request, requestEnd))
      readRest(entry, bytes.toString('utf8', requestEnd + 1, end))
    }
    return undefined
  }
}

/** Matches the fields behind the request. */
const REST = /^ (\d+|-)(?: (\d+|-))?(?: "((?:[^"\\]|\\.)*)")?(?: "((?:[^"\\]|\\.)*)")?/

function readRest(entry: LogEntry, line: string): void {
  const [, status, length, referer, agent] = REST.exec(line) ?? []
  entry.status = numberOf(status)
  entry.bytes = numberOf(length)
  entry.headers = {}
  if (isTold(referer)) entry.headers.referer = unescapeField(referer)
  if (isTold(agent)) entry.headers['user-agent'] = unescapeField(agent)
}

function text(bytes: Buffer, start: number, end: number): string {
  return unescapeField(bytes.toString('utf8', start, end))
}

function isTold(field: string | undefined): field is string {
  return field !== undefined && field !== '-'
}

function numberOf(field: string | undefined): number | undefined {
  return isTold(field) ? Number(field) : undefined
}

/** Where the byte is, or `end`. */
function find(bytes: Buffer, byte: number, start: number, end: number): number {
  let i = start
  while (i < end && bytes[i] !== byte) i += 1
  return Math.min(i, end)
}

/** Where the quote is that ends a field, or `end`. */
function closing(bytes: Buffer, start: number, end: number): number {
  for (let i = start; i < end; i += 1) {
    if (bytes[i] === QUOTE) return i
    if (bytes[i] === BACKSLASH) i += 1
  }
  return end
}

function isDash(bytes: Buffer, start: number, end: number): boolean {
  return end - start === 1 && bytes[start] === DASH
}
