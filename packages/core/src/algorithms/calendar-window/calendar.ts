import type { TimeZone } from './time-zone.ts'

export const CALENDAR_UNITS = ['day', 'week', 'month'] as const

/** The length of a window of the calendar. */
export type CalendarUnit = (typeof CALENDAR_UNITS)[number]

const DAY = 86_400_000

/** The most that each lasts, without a change of the clocks, ms. */
export const CALENDAR_MS: { readonly [unit in CalendarUnit]: number } = {
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
  /**
   * How long a window that has ended is remembered, ms: if the anchor varies, for as long as a window
   * could begin before that end and contain the present. Otherwise 0
   */
  readonly keepEndedMs: number
  readonly #zone: TimeZone
  readonly #unit: CalendarUnit
  readonly #anchor: number
  /** The window that was found last: ms since the epoch, half-open. */
  #last = { start: 0, end: 0 }

  /**
   * @param anchor the day on which windows begin: of the month, 1 … 31 (the last day of a month that
   *   is shorter), or of the week, 1 (Monday) … 7; without a meaning for days
   * @param varies the anchor depends on the request: the name does not have it, so that a key has one
   *   state whatever its anchor
   */
  constructor(unit: CalendarUnit, zone: TimeZone, anchor: number, varies = false) {
    this.#unit = unit
    this.#zone = zone
    this.#anchor = unit === 'day' ? 1 : anchor
    this.lengthMs = CALENDAR_MS[unit]
    this.keepEndedMs = varies ? this.lengthMs + DAY : 0
    this.name = `${unit}:${zone.name}:${varies ? '*' : this.#anchor}`
  }

  /** The window that an instant is in, ms since the epoch. */
  at(instant: number): { readonly start: number; readonly end: number } {
    // Most calls are for the same window.
    const last = this.#last
    if (last.start <= instant && instant < last.end) return last
    let number = this.#guess(this.#zone.local(instant))
    let start = this.#start(number)
    while (start > instant) start = this.#start(--number)
    let end = this.#start(++number)
    while (end <= instant) [start, end] = [end, this.#start(++number)]
    this.#last = { start, end }
    return this.#last
  }

  /** The number of the window that has a local date, or of an adjacent one. */
  #guess(local: number): number {
    if (this.#unit === 'month') {
      const date = new Date(local)
      return 12 * (date.getUTCFullYear() - 1970) + date.getUTCMonth()
    }
    return Math.floor(local / this.lengthMs)
  }

  #start(number: number): number {
    return this.#zone.startOfDay(this.#firstDay(number))
  }

  /** Midnight of a window's first day, on clocks that stand in UTC. */
  #firstDay(number: number): number {
    if (this.#unit === 'day') return number * DAY
    // The epoch was a Thursday.
    if (this.#unit === 'week') return (7 * number + this.#anchor - 4) * DAY
    const lastDay = new Date(Date.UTC(1970, number + 1, 0)).getUTCDate()
    return Date.UTC(1970, number, Math.min(this.#anchor, lastDay))
  }
}
