import type { LogEntry } from '../log-entry.ts'
import type { LineFormat } from './line-format.ts'
import type { LinePattern } from './line-pattern.ts'
import type { Reading } from './reading.ts'
import { RecordReader } from './record.ts'

/** Lines of a pattern: the names of their fields are those of nginx. */
export class PatternFormat implements LineFormat {
  readonly #pattern: LinePattern
  readonly #record: RecordReader

  constructor(pattern: LinePattern, reading: Reading) {
    this.#pattern = pattern
    this.#record = new RecordReader(reading)
  }

  read(bytes: Buffer, start: number, end: number, entry: LogEntry): string | undefined {
    const fields = this.#pattern.split(bytes.toString('utf8', start, end))
    if (typeof fields === 'string') return `no ${fields} where the pattern has it`
    return this.#record.read(fields, entry)
  }
}
