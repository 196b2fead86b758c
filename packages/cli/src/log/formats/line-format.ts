import { LineSplitter, MAX_LINE } from '../input/lines.ts'
import { LogEntry } from '../log-entry.ts'
import type { LogReader, LogSink } from './log-reader.ts'

/** A format in which each line is one record. */
export interface LineFormat {
  /**
   * Reads the line between `start` and `end` into the entry.
   * @returns why it can't be read, or undefined
   */
  read(bytes: Buffer, start: number, end: number, entry: LogEntry): string | undefined
}

/** Reads a file line by line. */
export class LineReader implements LogReader {
  readonly #splitter: LineSplitter

  /** @param whole true: a new entry for each line. Otherwise the same entry is reused */
  constructor(format: LineFormat, sink: LogSink, whole: boolean) {
    let entry = new LogEntry()
    let number = 0
    this.#splitter = new LineSplitter({
      line(bytes, start, end) {
        number += 1
        if (start === end) return
        const reason = format.read(bytes, start, end, entry)
        if (reason !== undefined) {
          sink.unreadable(number, bytes.toString('utf8', start, Math.min(end, start + 200)), reason)
          return
        }
        entry.size = end - start
        sink.entry(entry)
        if (whole) entry = new LogEntry()
      },
      tooLong(beginning) {
        number += 1
        sink.unreadable(number, beginning.toString('utf8'), `longer than ${MAX_LINE} bytes`)
      },
    })
  }

  write(chunk: Buffer): void {
    this.#splitter.write(chunk)
  }

  end(): void {
    this.#splitter.end()
  }
}
