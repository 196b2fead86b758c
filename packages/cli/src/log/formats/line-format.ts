import type { LineReader } from '../input/lines.ts'
import { LogEntry } from '../log-entry.ts'
import type { LogSink } from './log-sink.ts'

/** A format in which each line is one record. */
export interface LineFormat {
  /**
   * Reads the line between `start` and `end` into the entry.
   * @returns why it can't be read, or undefined
   */
  read(bytes: Buffer, start: number, end: number, entry: LogEntry): string | undefined
}

/** Reads lines one by one. @param whole true: a new entry for each line. Otherwise the same entry is reused */
export function lineReader(format: LineFormat, sink: LogSink, whole: boolean): LineReader {
  let entry = new LogEntry()
  return {
    line(bytes, start, end, number) {
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
  }
}
