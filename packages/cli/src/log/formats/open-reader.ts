import { UsageError } from '@sluice/terminal/usage-error'
import { type LineReader, LineSplitter } from '../input/lines.ts'
import { CombinedFormat } from './combined.ts'
import { CsvReader } from './csv.ts'
import { jsonFields } from './json.ts'
import { type LineFormat, lineReader } from './line-format.ts'
import type { LinePattern } from './line-pattern.ts'
import type { LogSink } from './log-sink.ts'
import type { FormatName, Reading } from './reading.ts'
import { recordFormat } from './record.ts'

/**
 * Reads a file of one format, in chunks as they come.
 *
 * @throws UsageError for fields that the format can't have
 */
export function openReader(format: FormatName, reading: Reading, sink: LogSink): LineSplitter {
  if (format === 'combined') checkCombined(reading)
  else if (reading.duration !== undefined && reading.duration.field === undefined) {
    throw new UsageError(
      '--duration: JSON lines, CSV and patterns need a field, such as request_time:s',
    )
  }
  return new LineSplitter(readerOf(format, reading, sink), sink)
}

function readerOf(format: FormatName, reading: Reading, sink: LogSink): LineReader {
  if (format === 'csv') return new CsvReader(reading, sink)
  return lineReader(formatOf(format, reading), sink, reading.whole)
}

function formatOf(format: Exclude<FormatName, 'csv'>, reading: Reading): LineFormat {
  if (format === 'combined') return new CombinedFormat(reading)
  const pattern = reading.pattern as LinePattern
  return recordFormat(reading, format === 'json' ? jsonFields : (line) => pattern.split(line))
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
