import type { LogEntry } from '../log-entry.ts'
import type { LineFormat } from './line-format.ts'
import type { Reading } from './reading.ts'
import { type Fields, RecordReader } from './record.ts'

/** An object of JSON in each line. */
export class JsonFormat implements LineFormat {
  readonly #record: RecordReader

  constructor(reading: Reading) {
    this.#record = new RecordReader(reading)
  }

  read(bytes: Buffer, start: number, end: number, entry: LogEntry): string | undefined {
    let fields: unknown
    try {
      fields = JSON.parse(bytes.toString('utf8', start, end))
    } catch {
      return 'no JSON'
    }
    if (typeof fields !== 'object' || fields === null || Array.isArray(fields)) {
      return 'no JSON object'
    }
    return this.#record.read(fields as Fields, entry)
  }
}
