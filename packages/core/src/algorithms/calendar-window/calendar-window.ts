import type { Algorithm, AlgorithmParams, KeyState } from '../algorithm.ts'
import { FixedWindowLimit } from '../fixed-window/fixed-window.ts'
import { MAX_EXACT } from '../ticks.ts'
import type { Calendar } from './calendar.ts'
import { calendarWindowLua } from './calendar-window.lua.ts'

/** Windows before and after the present one that the Lua form knows; of one more it knows the end. */
const AROUND = 2

/**
 * The fixed window on a calendar. State: a = the start of the window, c = its end, ms since the epoch.
 *
 * A window that has begun ends when it said, whatever calendar comes meanwhile; then the new calendar
 * counts from there, up to the end of the first of its windows that begins at that time or after it. So
 * no client begins windows faster by changing its anchor.
 */
class CalendarWindowLimit extends FixedWindowLimit {
  override readonly algorithm: Algorithm = calendarWindow
  private readonly calendar: Calendar
  /** The Lua form's constants for `knownFor`. */
  private known: readonly number[] = []
  private knownFor = Number.NaN

  constructor(params: AlgorithmParams) {
    super(params, [])
    this.calendar = params.calendar as Calendar
  }

  /**
   * The limit, and the edges of the windows around `now`: which of these windows it is, the store's
   * clock says.
   */
  override constants(now: number): readonly number[] {
    const { start } = this.calendar.at(now)
    if (start !== this.knownFor) {
      this.known = [this.units, ...this.edges(now), this.calendar.keepEndedMs]
      this.knownFor = start
    }
    return this.known
  }

  /** A window that has ended matters as long as the next one may have to begin at its end. */
  keepMs(state: KeyState, now: number): number {
    const { keepEndedMs } = this.calendar
    return keepEndedMs > 0 ? state.c + keepEndedMs - now : state.resetMs
  }

  protected override enter(state: KeyState, now: number): number {
    const hasEnded = now >= state.c
    state.rebased = now < state.a
    if (hasEnded || state.rebased) {
      const { start, end } = this.calendar.at(now)
      const continues = hasEnded && this.calendar.keepEndedMs > 0 && state.c > Math.max(0, start)
      if (hasEnded) state.b = 0
      state.a = continues ? state.c : start
      state.c = continues ? this.calendar.at(end).end : end
    }
    return state.c - now
  }

  protected override correct(state: KeyState, now: number, delta: number, chargedAt: number): void {
    if (Math.min(chargedAt, now) >= state.a)
      state.b = Math.min(MAX_EXACT, Math.max(0, state.b + delta))
  }

  private edges(now: number): number[] {
    let first = this.calendar.at(now).start
    for (let i = 0; i < AROUND; i += 1) first = this.calendar.at(first - 1).start
    const edges = [first]
    while (edges.length < 2 * AROUND + 3) edges.push(this.calendar.at(edges.at(-1) as number).end)
    return edges
  }
}

/** The algorithm of calendar windows: `window: 'day'` and the like choose it, not its name. */
export const calendarWindow: Algorithm = {
  name: 'fixed-window',
  options: {},
  maxLimit: MAX_EXACT,
  keepsLog: false,
  compile: (params) => new CalendarWindowLimit(params),
  lua: calendarWindowLua,
}
