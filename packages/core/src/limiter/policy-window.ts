import type { CompiledLimit } from '../algorithms/algorithm.ts'
import { type Anchor, anchorDay } from '../algorithms/calendar-window/anchor.ts'
import { CALENDAR_MS, Calendar, type CalendarUnit } from '../algorithms/calendar-window/calendar.ts'
import { TimeZone } from '../algorithms/calendar-window/time-zone.ts'
import { conflict } from '../errors/conflict.ts'
import { SluiceError } from '../errors/sluice-error.ts'
import { pathTo } from '../options/known.ts'
import type { Values } from '../options/read.ts'
import { OPTIONS } from '../options/table.ts'

/** The most lengths of a window that depends on the request: each has a quota of its own. */
const MAX_LENGTHS = 16

/** A window that depends on the request is taken for this long before there is a request. ms. */
const ASSUMED_MS = 60_000

/** A window of a policy; the same object as long as it is the same. */
export interface WindowLimits {
  /** ms. For a window of the calendar: the longest that one lasts, without a change of the clocks. */
  readonly windowMs: number
  /** Undefined: the window is a duration. */
  readonly calendar: Calendar | undefined
  /** The limits that were compiled for it, by the value of the option. */
  readonly limits: Map<unknown, CompiledLimit>
}

let utc: TimeZone | undefined

/** The window of a policy: a duration, one of the calendar, or one that depends on the request. */
export class PolicyWindow {
  /** The window of a request for which nothing depends on the request. */
  readonly initial: WindowLimits
  /** Undefined: the window is a duration. */
  readonly unit: CalendarUnit | undefined
  /** Whether its length depends on the request. */
  readonly varies: boolean
  readonly #path: string
  readonly #values: Values<typeof OPTIONS.policy>
  /** The windows by their lengths, or by the day on which windows of the calendar begin: at most 31. */
  readonly #known = new Map<number, WindowLimits>()

  /**
   * @param path where the policy's options are, for messages: `policies[0]`, or ''
   * @throws SluiceError
   */
  constructor(path: string, values: Values<typeof OPTIONS.policy>) {
    const { window, timeZone, anchor } = values
    this.#path = path
    this.#values = values
    this.unit = typeof window === 'string' ? window : undefined
    this.varies = typeof window === 'function'
    if (timeZone !== undefined && this.unit === undefined) {
      throw this.#conflict('timeZone', "window: 'day', 'week' or 'month' with it", window)
    }
    if (anchor !== undefined && (this.unit === undefined || this.unit === 'day')) {
      throw this.#conflict('anchor', "window: 'week' or 'month' with it", window)
    }
    this.initial = this.varies
      ? { windowMs: ASSUMED_MS, calendar: undefined, limits: new Map() }
      : this.of(undefined, undefined)
  }

  /**
   * The window of a request; the same object as long as it is the same.
   *
   * @param window the result of the user's function, if it is one
   * @param anchor the result of the user's function, if it is one
   * @throws SluiceError if one is wrong, or the window is one length too many
   */
  of(window: unknown, anchor: unknown): WindowLimits {
    const values = this.#values
    const { unit } = this
    if (unit === undefined) {
      const ms = this.varies ? this.#checkLength(window) : (values.window as number)
      return this.#known.get(ms) ?? this.#add(ms, ms)
    }
    // Made for the first calendar window: it takes a millisecond.
    utc ??= new TimeZone('UTC')
    const { timeZone = utc } = values
    const varies = typeof values.anchor === 'function'
    const given = this.#checkAnchor(varies ? anchor : values.anchor)
    const day = unit === 'day' ? 1 : anchorDay(unit, timeZone, given)
    const known = this.#known.get(day)
    return known ?? this.#add(day, CALENDAR_MS[unit], new Calendar(unit, timeZone, day, varies))
  }

  #add(by: number, windowMs: number, calendar?: Calendar): WindowLimits {
    const added = { windowMs, calendar, limits: new Map() }
    this.#known.set(by, added)
    return added
  }

  /** @returns ms */
  #checkLength(window: unknown): number {
    const option = pathTo(this.#path, 'window')
    const ms = OPTIONS.policy.window.type.check(option, window)
    if (typeof ms === 'string') {
      throw new SluiceError({
        code: 'SLUICE_OPTION_VALUE',
        option,
        expected: 'a duration, since the window depends on the request',
        received: window,
        fix: `Return a duration such as '1d', or make a limiter for each unit of the calendar.`,
      })
    }
    if (this.#known.size < MAX_LENGTHS || this.#known.has(ms)) return ms
    throw new SluiceError({
      code: 'SLUICE_OPTION_RANGE',
      option,
      expected: `at most ${MAX_LENGTHS} different lengths, because each has a quota of its own`,
      received: window,
      fix: 'Choose the length by what you know of the client, such as its plan, not by what it sends.',
    })
  }

  #checkAnchor(anchor: unknown): Anchor | undefined {
    if (anchor === undefined) return undefined
    const checked = OPTIONS.policy.anchor.type.check(pathTo(this.#path, 'anchor'), anchor)
    if (this.unit === 'month' || typeof checked !== 'number') return checked
    throw this.#conflict('anchor', 'a date, whose weekday weeks begin on', anchor)
  }

  #conflict(option: string, expected: string, received: unknown): SluiceError {
    return conflict(
      pathTo(this.#path, option),
      expected,
      received,
      `Remove ${option}, or set what it belongs to.`,
    )
  }
}
