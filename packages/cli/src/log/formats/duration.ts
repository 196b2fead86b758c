import { UsageError } from '@sluice/terminal/usage-error'
import type { LogEntry } from '../log-entry.ts'

/** Ms in each unit of a duration. */
const UNITS: Readonly<Record<string, number>> = { s: 1000, ms: 1, us: 0.001 }

/** The longest duration that is taken for one of a request, ms: a year. */
const LONGEST_MS = 31_536_000_000

/** Where a line says how long its request took. */
export interface DurationField {
  /** JSON, CSV: a dotted path, or the name of a column. Undefined: the last word of the line. */
  readonly field: string | undefined
  readonly msPerUnit: number
  /** The meaning of a line's time: its request began, or ended. */
  readonly loggedAt: 'start' | 'end'
}

/** @param text `s`, or `request_time:s`. @throws UsageError */
export function durationField(text: string, loggedAt: 'start' | 'end' = 'end'): DurationField {
  const colon = text.lastIndexOf(':')
  const msPerUnit = UNITS[text.slice(colon + 1)]
  if (msPerUnit === undefined || colon === 0) {
    throw new UsageError(
      `--duration: expected a unit (s, ms or us) for a combined log, a field and its unit such as request_time:s for JSON and CSV, received '${text}'`,
    )
  }
  return { field: colon < 0 ? undefined : text.slice(0, colon), msPerUnit, loggedAt }
}

/** A request is replayed when it began. */
export function setDuration(entry: LogEntry, ms: number, { loggedAt }: DurationField): void {
  entry.durationMs = ms
  if (loggedAt === 'end') entry.time = Math.max(0, entry.time - ms)
}

/** Integer ms; undefined if it is no duration. */
export function readDuration(value: unknown, { msPerUnit }: DurationField): number | undefined {
  const text = typeof value === 'string' ? value.replace(/^"(.*)"$/, '$1') : value
  const number = typeof text === 'string' && /^\d+(\.\d+)?$/.test(text) ? Number(text) : text
  if (typeof number !== 'number') return undefined
  const ms = Math.round(number * msPerUnit)
  return ms >= 0 && ms <= LONGEST_MS ? ms : undefined
}
