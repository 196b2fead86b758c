import { UsageError } from '@sluice/terminal/usage-error'
import { CombinedFormat } from './combined.ts'
import { CsvReader } from './csv.ts'
import { JsonFormat } from './json.ts'
import { type LineFormat, LineReader } from './line-format.ts'
import type { LinePattern } from './line-pattern.ts'
import type { LogReader, LogSink } from './log-reader.ts'
import { PatternFormat } from './pattern.ts'
import type { FormatName, Reading } from './reading.ts'

/** @throws UsageError for fields that the format can't have */
export function openReader(format: FormatName, reading: Reading, sink: LogSink): LogReader {
  if (format === 'combined') checkCombined(reading)
  else if (reading.duration !== undefined && reading.duration.field === undefined) {
    throw new UsageError(
      '--duration: JSON lines, CSV and patterns need a field, such as request_time:s',
    )
  }
  if (format === 'csv') return new CsvReader(reading, sink)
  return new LineReader(linesOf(format, reading), sink, reading.whole)
}

function linesOf(format: Exclude<FormatName, 'csv'>, reading: Reading): LineFormat {
  if (format === 'json') return new JsonFormat(reading)
  if (format === 'combined') return new CombinedFormat(reading)
  return new PatternFormat(reading.pattern as LinePattern, reading)
}

function checkCombined({ fields: { key = 'ip', time, cost }, duration }: Reading): void {
  if (duration?.field !== undefined) {
    throw new UsageError(
      '--duration: a combined log has it at the end of each line; give only the unit (s, ms or us)',
    )
  }
  if (key !== 'ip' && key !== 'user') {
    throw new UsageError(`--key: a combined log has ip and user, received '${key}'`)
  }
  if (time !== undefined || cost !== undefined) {
    throw new UsageError('--time and --cost are for JSON lines and CSV, and this is a combined log')
  }
}
