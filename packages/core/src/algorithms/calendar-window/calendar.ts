import type { TimeZone } from './time-zone.ts'

/** What a calendar window is as long as. */
export type CalendarUnit = 'day' | 'week' | 'month'

/** A window: ms since the epoch, half-open. */
export interface CalendarWindow {
  readonly start: number
  readonly end: number
}

const DAY = 86_400_000

/** The most that each lasts, without a change of the clocks, ms. */
const LENGTH: { readonly [unit in CalendarUnit]: number } = {
  day: DAY,
  week: 7 * DAY,
  month: 31 * DAY,
}

/** The windows of a calendar in a time zone, numbered from the epoch on. */
export class Calendar {
  /** Tells calendars apart: `'month:Europe/Berlin:31'`. */
  readonly name: string
  /** The most that a window lasts, without a change of the clocks, ms. */
  readonly lengthMs: number
  private readonly zone: TimeZone
  private readonly unit: CalendarUnit
  private readonly anchor: number
  private last: CalendarWindow = { start: 0, end: 0 }

  /**
   * @param anchor the day on which windows begin: of the month, 1 … 31 (the last day of a month that
   *   is shorter), or of the week, 1 (Monday) … 7; without a meaning for days
   */
  constructor(unit: CalendarUnit, zone: TimeZone, anchor: number) {
    this.unit = unit
    this.zone = zone
    this.anchor = unit === 'day' ? 1 : anchor
    this.lengthMs = LENGTH[unit]
    this.name = `${unit}:${zone.name}:${this.anchor}`
  }

  /** The window that an instant is in, ms since the epoch. */
  at(instant: number): CalendarWindow {
    // Most calls are for the same window.
    const { last } = this
    if (last.start <= instant && instant < last.end) return last
    let number = this.guess(this.zone.local(instant))
    let start = this.start(number)
    while (start > instant) start = this.start(--number)
    let end = this.start(++number)
    while (end <= instant) [start, end] = [end, this.start(++number)]
    this.last = { start, end }
    return this.last
  }

  /** The number of the window that has a local date, or of one beside it. */
  private guess(local: number): number {
    if (this.unit === 'month') {
      const date = new Date(local)
      return 12 * (date.getUTCFullYear() - 1970) + date.getUTCMonth()
    }
    return Math.floor(local / this.lengthMs)
  }

  private start(number: number): number {
    return this.zone.startOfDay(this.firstDay(number))
  }

  /** Midnight of a window's first day, on clocks that stand in UTC. */
  private firstDay(number: number): number {
    if (this.unit === 'day') return number * DAY
    // The epoch was a Thursday.
    if (this.unit === 'week') return (7 * number + this.anchor - 4) * DAY
    const lastDay = new Date(Date.UTC(1970, number + 1, 0)).getUTCDate()
    return Date.UTC(1970, number, Math.min(this.anchor, lastDay))
  }
}
