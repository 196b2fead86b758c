import { type Anchor, anchorDay } from '../algorithms/calendar-window/anchor.ts'
import { CALENDAR_MS, Calendar, type CalendarUnit } from '../algorithms/calendar-window/calendar.ts'
import { TimeZone } from '../algorithms/calendar-window/time-zone.ts'
import { SluiceError } from '../errors/sluice-error.ts'
import type { Values } from '../options/read.ts'
import { OPTIONS } from '../options/table.ts'

/** The window of a policy: a duration, or one of the calendar. */
export class PolicyWindow {
  /** A unit of the calendar: the longest that one lasts, without a change of the clocks. */
  readonly ms: number
  /** Undefined: the window is a duration. */
  readonly unit: CalendarUnit | undefined
  private readonly path: string
  private readonly zone: TimeZone
  /** Whether the day on which windows begin depends on the request. */
  private readonly varies: boolean
  /** By the day on which their windows begin: at most 31. */
  private readonly calendars = new Map<number, Calendar>()

  /**
   * @param path of the policy's options in messages: `policies[0].`, or ''
   * @throws SluiceError
   */
  constructor(path: string, values: Values<typeof OPTIONS.policy>) {
    const { window, timeZone, anchor } = values
    this.path = path
    this.unit = typeof window === 'string' ? window : undefined
    this.ms = typeof window === 'string' ? CALENDAR_MS[window] : window
    this.varies = typeof anchor === 'function'
    this.zone = timeZone ?? new TimeZone('UTC')
    if (timeZone !== undefined && this.unit === undefined) {
      throw this.conflict('timeZone', "window: 'day', 'week' or 'month' with it", window)
    }
    if (anchor === undefined) return
    if (this.unit === undefined || this.unit === 'day') {
      throw this.conflict('anchor', "window: 'week' or 'month' with it", window)
    }
    if (typeof anchor !== 'function') this.check(anchor)
  }

  /**
   * @param anchor as the user's function gave it, if it is one
   * @returns undefined: the window is a duration
   * @throws SluiceError
   */
  calendar(anchor: unknown): Calendar | undefined {
    const { unit, zone } = this
    if (unit === undefined) return undefined
    const day = unit === 'day' ? 1 : anchorDay(unit, zone, this.check(anchor))
    let calendar = this.calendars.get(day)
    if (calendar === undefined) {
      calendar = new Calendar(unit, zone, day, this.varies)
      this.calendars.set(day, calendar)
    }
    return calendar
  }

  private check(anchor: unknown): Anchor | undefined {
    if (anchor === undefined) return undefined
    const checked = OPTIONS.policy.anchor.type.check(`${this.path}anchor`, anchor)
    if (this.unit === 'month' || typeof checked !== 'number') return checked
    throw this.conflict('anchor', 'a date, whose weekday weeks begin on', anchor)
  }

  private conflict(option: string, expected: string, received: unknown): SluiceError {
    return new SluiceError({
      code: 'SLUICE_OPTION_CONFLICT',
      option: this.path + option,
      expected,
      received,
      fix: `Remove ${option}, or set what it belongs to.`,
    })
  }
}
