import { type LineReader, MAX_LINE } from '../input/lines.ts'
import { LogEntry } from '../log-entry.ts'
import { CsvRecord } from './csv-record.ts'
import type { LogSink } from './log-sink.ts'
import type { Reading } from './reading.ts'
import { RecordReader } from './record.ts'

const DELIMITERS = [',', ';', '\t'] as const
/** Lines of a record, at most: in a longer one the opening quote is a mistake. */
const MOST_LINES = 100
const NEVER_CLOSED = 'a quoted field does not end'
const GOES_ON = 'a quoted field goes on behind its quote'

interface Line {
  readonly number: number
  readonly text: string
}

/**
 * CSV with a header: separated by commas, semicolons or tabs. A record may have several lines.
 * An invalid one loses only its first line: each of the others is tried again as the beginning of a
 * record.
 */
export class CsvReader implements LineReader {
  readonly #reading: Reading
  readonly #sink: LogSink
  readonly #records: RecordReader
  #entry = new LogEntry()
  #delimiter: string = DELIMITERS[0]
  #header: readonly string[] | undefined
  /** The lines that have come, from the first line of the record in hand. */
  #lines: Line[] = []
  /** How many of the lines the record has taken. */
  #taken = 0
  #record = new CsvRecord(this.#delimiter)

  constructor(reading: Reading, sink: LogSink) {
    this.#reading = reading
    this.#sink = sink
    this.#records = new RecordReader(reading)
  }

  line(bytes: Buffer, start: number, end: number, number: number): void {
    this.#lines.push({ number, text: bytes.toString('utf8', start, end) })
    this.#take()
  }

  /** Gives up the record in hand, since no line comes that could end it. */
  giveUp(): void {
    while (this.#lines.length > 0) {
      this.#lose(NEVER_CLOSED)
      this.#taken = 0
      this.#take()
    }
  }

  /** Takes all lines that there are into records. */
  #take(): void {
    while (this.#taken < this.#lines.length) {
      const { text } = this.#lines[this.#taken] as Line
      if (this.#taken === 0) this.#begin(text)
      const state = this.#record.add(text)
      this.#taken += 1
      if (state === 'open' && this.#mayGoOn()) continue
      const reason = state === 'complete' ? this.#read() : this.#reasonOf(state)
      if (reason === undefined) this.#lines.splice(0, this.#taken)
      else this.#lose(reason)
      this.#taken = 0
    }
  }

  #begin(text: string): void {
    if (this.#header === undefined) this.#delimiter = delimiterOf(text)
    this.#record = new CsvRecord(this.#delimiter)
  }

  #mayGoOn(): boolean {
    const header = this.#header
    const lines = this.#lines
    const record = this.#record
    if (header === undefined || record.fields.length >= header.length) return false
    return this.#taken < MOST_LINES && sizeOf(lines) <= MAX_LINE
  }

  /** Reads the record. @returns why it can't be read, or undefined */
  #read(): string | undefined {
    const { fields } = this.#record
    if (this.#taken === 1 && this.#lines[0]?.text === '') return undefined
    if (this.#header === undefined) {
      this.#header = fields
      return undefined
    }
    const reason = this.#readFields(fields, this.#header)
    return reason === undefined || this.#taken === 1 ? reason : NEVER_CLOSED
  }

  #readFields(fields: readonly string[], header: readonly string[]): string | undefined {
    if (fields.length !== header.length) {
      return `it has ${fields.length} fields, and the header ${header.length}`
    }
    const named = Object.fromEntries(header.map((name, i) => [name, fields[i]]))
    const reason = this.#records.read(named, this.#entry)
    if (reason !== undefined) return reason
    this.#entry.size = sizeOf(this.#lines)
    this.#sink.entry(this.#entry)
    if (this.#reading.whole) this.#entry = new LogEntry()
    return undefined
  }

  #reasonOf(state: 'open' | 'broken'): string {
    return state === 'broken' && this.#taken === 1 ? GOES_ON : NEVER_CLOSED
  }

  #lose(reason: string): void {
    const [first] = this.#lines.splice(0, 1)
    this.#sink.unreadable((first as Line).number, (first as Line).text, reason)
  }
}

/** The one that occurs most often in the header. */
function delimiterOf(header: string): string {
  const count = (delimiter: string) => header.split(delimiter).length
  return DELIMITERS.reduce((most, each) => (count(each) > count(most) ? each : most))
}

function sizeOf(lines: readonly Line[]): number {
  return lines.reduce((size, { text }) => size + text.length, 0)
}
