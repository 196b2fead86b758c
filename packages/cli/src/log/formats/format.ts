import { UsageError } from '../../command/usage-error.ts'
import type { Clients } from '../clients.ts'
import type { Mask } from '../mask.ts'
import { CombinedFormat } from './combined.ts'
import { CsvReader } from './csv.ts'
import type { DurationField } from './duration.ts'
import type { FieldNames } from './field-names.ts'
import { JsonFormat } from './json.ts'
import { LineReader } from './line-format.ts'
import type { LogReader, LogSink } from './log-reader.ts'

export const FORMATS = ['combined', 'json', 'csv'] as const
export type FormatName = (typeof FORMATS)[number]

/** What a replay reads from a log, and where it is in the log. */
export interface Reading {
  /** Numbers them. */
  readonly clients: Clients
  /** What was asked for; the rest is found by its usual names. Combined: `key` is `ip` or `user`. */
  readonly fields: FieldNames
  /** Undefined: how long requests took is not read. */
  readonly duration?: DurationField | undefined
  /** True: entries have everything that a line says. False: only time, client and cost. */
  readonly whole: boolean
  /** Which parts of a line may be shown. */
  readonly mask: Mask
}

/** @throws UsageError for fields that the format can't have */
export function openReader(format: FormatName, reading: Reading, sink: LogSink): LogReader {
  if (format === 'combined') checkCombined(reading)
  else if (reading.duration !== undefined && reading.duration.field === undefined) {
    throw new UsageError('--duration: JSON lines and CSV need a field, such as request_time:s')
  }
  if (format === 'csv') return new CsvReader(reading, sink)
  const lines = format === 'json' ? new JsonFormat(reading) : new CombinedFormat(reading)
  return new LineReader(lines, sink, reading.whole)
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
