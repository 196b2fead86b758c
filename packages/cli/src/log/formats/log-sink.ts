import type { LogEntry } from '../log-entry.ts'

/** Takes the lines of a file from its reader. */
export interface LogSink {
  /** A line that could be read. The sink may keep the entry only if it asked for whole ones. */
  entry(entry: LogEntry): void
  /**
   * @param line its number in the file, from 1
   * @param text the line, or its beginning
   */
  unreadable(line: number, text: string, reason: string): void
}
