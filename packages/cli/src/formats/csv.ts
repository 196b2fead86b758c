import { type CsvError, type Info, type Parser, parse } from 'csv-parse'
import { MAX_LINE } from '../input/lines.ts'
import { LogEntry } from '../log/log-entry.ts'
import type { Reading } from './format.ts'
import type { LogReader, LogSink } from './log-reader.ts'
import { type Fields, RecordReader } from './record.ts'

/** CSV with a header: separated by commas, semicolons or tabs, quoted as RFC 4180 has it. */
export class CsvReader implements LogReader {
  private readonly parser: Parser
  private readonly done: Promise<void>

  constructor(reading: Reading, sink: LogSink) {
    const record = new RecordReader(reading)
    let entry = new LogEntry()
    this.parser = parse({
      bom: true,
      columns: true,
      delimiter: [',', ';', '\t'],
      info: true,
      max_record_size: MAX_LINE,
      raw: true,
      relax_quotes: true,
      skip_empty_lines: true,
      skip_records_with_error: true,
    })
    this.parser.on('data', ({ record: fields, info, raw }: Row) => {
      const reason = record.read(fields, entry)
      if (reason !== undefined) {
        sink.unreadable(info.lines, raw.trim().slice(0, 200), reason)
        return
      }
      sink.entry(entry)
      if (reading.whole) entry = new LogEntry()
    })
    this.parser.on('skip', (error: CsvError & { lines: number }, raw?: string) => {
      sink.unreadable(error.lines, (raw ?? '').trim().slice(0, 200), error.message)
    })
    this.done = new Promise((resolve, reject) => {
      this.parser.on('end', resolve).on('error', reject)
    })
    this.done.catch(() => {})
  }

  write(chunk: Buffer): Promise<void> {
    return new Promise((resolve, reject) => {
      // It may keep what is left of a chunk.
      this.parser.write(Buffer.from(chunk), (error) => (error ? reject(error) : resolve()))
    })
  }

  end(): Promise<void> {
    this.parser.end()
    return this.done
  }
}

interface Row {
  readonly record: Fields
  readonly info: Info
  readonly raw: string
}
