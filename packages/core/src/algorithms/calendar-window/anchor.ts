import type { CalendarUnit } from './calendar.ts'
import type { TimeZone } from './time-zone.ts'

/**
 * When the windows of a calendar begin. Months: a day, 1 … 31, or the day of a date. Weeks: the
 * weekday of a date. A date is text such as `'2026-11-21'`, or a `Date` as clocks show it in the
 * time zone.
 */
export type Anchor = number | string | Date

/** The day of the month (1 … 31) or of the week (1: Monday … 7) that an anchor stands for. */
export function anchorDay(
  unit: Exclude<CalendarUnit, 'day'>,
  zone: TimeZone,
  anchor: Anchor | undefined,
): number {
  if (anchor === undefined) return 1
  if (typeof anchor === 'number') return anchor
  const date =
    typeof anchor === 'string' ? new Date(anchor) : new Date(zone.local(anchor.getTime()))
  return unit === 'month' ? date.getUTCDate() : date.getUTCDay() || 7
}

/** Whether a date has the form `2026-11-21` and exists. */
export function isDate(text: string): boolean {
  return /^\d{4}-\d\d-\d\d$/.test(text) && new Date(text).toJSON()?.slice(0, 10) === text
}
