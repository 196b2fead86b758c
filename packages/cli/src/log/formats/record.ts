import type { LogEntry } from '../log-entry.ts'
import { readDuration, setDuration } from './duration.ts'
import { type Fact, USUAL_NAMES } from './field-names.ts'
import type { LineFormat } from './line-format.ts'
import type { Reading } from './reading.ts'
import { readTime, whyOutOfReach } from './time.ts'

export type Fields = Readonly<Record<string, unknown>>

/** Lines that have named fields. @param fieldsOf the fields of a line; a text: why it has none */
export function recordFormat(
  reading: Reading,
  fieldsOf: (line: string) => Fields | string,
): LineFormat {
  const records = new RecordReader(reading)
  return {
    read(bytes, start, end, entry) {
      const fields = fieldsOf(bytes.toString('utf8', start, end))
      return typeof fields === 'string' ? fields : records.read(fields, entry)
    },
  }
}

/** Reads the entry out of named fields. */
export class RecordReader {
  readonly #reading: Reading
  /** Where the last record had a fact, which is where the next one will have it. */
  readonly #found = new Map<Fact, string>()

  constructor(reading: Reading) {
    this.#reading = reading
  }

  /** @returns why it can't be read, or undefined */
  read(fields: Fields, entry: LogEntry): string | undefined {
    const { clients, fields: asked, duration, whole, mask } = this.#reading
    const time = asked.time === undefined ? this.#fact(fields, 'time') : at(fields, asked.time)
    if (isEmpty(time)) return this.#missing('time', fields)
    entry.time = readTime(time)
    if (Number.isNaN(entry.time)) {
      if (typeof time === 'object') return 'the time is an object: name one of its fields'
      const shown = mask.text(String(time))
      return `the time "${shown}" is neither epoch seconds, epoch ms nor ISO 8601`
    }
    const outOfReach = whyOutOfReach(entry.time)
    if (outOfReach !== undefined) return outOfReach
    const key = asked.key === undefined ? this.#fact(fields, 'key') : at(fields, asked.key)
    if (isEmpty(key)) return this.#missing('key', fields)
    if (typeof key === 'object') return 'the key is an object: name one of its fields'
    entry.client = clients.number(String(key))
    if (asked.cost !== undefined) {
      const cost = costOf(at(fields, asked.cost))
      if (cost === undefined) return `the cost at ${asked.cost} is no integer from 0 to 2^53 - 1`
      entry.cost = cost
    }
    if (duration !== undefined) {
      const { field } = duration
      const ms = readDuration(at(fields, field as string), duration)
      if (ms === undefined) return `the value at ${field} is no duration`
      setDuration(entry, ms, duration)
    }
    if (whole) this.#readWhole(fields, String(key), entry)
    return undefined
  }

  #readWhole(fields: Fields, key: string, entry: LogEntry): void {
    const text = (fact: Fact) => {
      const value = this.#fact(fields, fact)
      return isEmpty(value) || typeof value === 'object' ? undefined : String(value)
    }
    const user = text('user')
    const agent = text('userAgent')
    const referer = text('referer')
    entry.fields = fields
    entry.ip = key
    entry.user = user === undefined ? undefined : { id: user }
    entry.method = text('method')?.toUpperCase() ?? ''
    entry.url = text('url') ?? ''
    entry.status = numberOf(text('status'))
    entry.bytes = numberOf(text('bytes'))
    entry.headers = {
      ...(agent !== undefined && { 'user-agent': agent }),
      ...(referer !== undefined && { referer }),
    }
  }

  #missing(fact: 'time' | 'key', fields: Fields): string {
    const {
      fields: { [fact]: asked },
      mask,
    } = this.#reading
    const names = Object.keys(fields).slice(0, 12)
    const listed = names.join(', ')
    const shown = names.every(isName) ? listed : mask.text(listed)
    return asked === undefined
      ? `no ${fact} under a usual name: name it with --${fact}; the line has ${shown}`
      : `nothing at ${asked}; the line has ${shown}`
  }

  /** The value of a fact, found by its usual names. */
  #fact(fields: Fields, fact: Fact): unknown {
    const known = this.#found.get(fact)
    const value = known === undefined ? undefined : at(fields, known)
    if (!isEmpty(value)) return value
    for (const name of USUAL_NAMES[fact]) {
      const other = at(fields, name)
      if (isEmpty(other)) continue
      this.#found.set(fact, name)
      return other
    }
    return undefined
  }
}

/** The value at a dotted path; a name that holds dots itself is found too. */
function at(fields: unknown, path: string): unknown {
  if (typeof fields !== 'object' || fields === null) return undefined
  if (Object.hasOwn(fields, path)) return (fields as Fields)[path]
  for (let dot = path.indexOf('.'); dot > 0; dot = path.indexOf('.', dot + 1)) {
    const head = path.slice(0, dot)
    if (!Object.hasOwn(fields, head)) continue
    const value = at((fields as Fields)[head], path.slice(dot + 1))
    if (value !== undefined) return value
  }
  return undefined
}

/**
 * Whether a text may be the name of a column. A CSV without a header begins with others: times, addresses.
 */
function isName(text: string): boolean {
  return /^@?[a-z_][\w.-]{0,39}$/i.test(text)
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || value === ''
}

/** Digits in CSV; undefined if it is no cost. */
function costOf(value: unknown): number | undefined {
  const cost = typeof value === 'string' && /^\d{1,16}$/.test(value) ? Number(value) : value
  return Number.isSafeInteger(cost) && (cost as number) >= 0 ? (cost as number) : undefined
}

function numberOf(text: string | undefined): number | undefined {
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined
}
