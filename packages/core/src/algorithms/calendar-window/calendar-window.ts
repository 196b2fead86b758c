import { type Algorithm, type AlgorithmParams, type KeyState, MAX_LIMIT } from '../algorithm.ts'
import { WindowLimit } from '../fixed-window/window-limit.ts'
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
class CalendarWindowLimit extends WindowLimit {
  readonly algorithm = calendarWindow
  readonly scale: string
  private readonly calendar: Calendar
  private readonly keepEndedMs: number
  /** The Lua form's constants for `knownFor`. */
  private known: readonly number[] = []
  private knownFor = Number.NaN

  constructor(params: AlgorithmParams & { readonly calendar: Calendar }) {
    super(params)
    this.calendar = params.calendar
    this.scale = params.calendar.name
    this.keepEndedMs = params.calendar.keepEndedMs
  }

  /**
   * The limit, and the edges of the windows around `now`: which of these windows it is, the store's
   * clock says.
   */
  constants(now: number): readonly number[] {
    const { start } = this.calendar.at(now)
    if (start !== this.knownFor) {
      this.known = [this.units, ...this.edges(now), this.keepEndedMs]
      this.knownFor = start
    }
    return this.known
  }

  /** A window that has ended matters as long as the next one may have to begin at its end. */
  keepMs(state: KeyState, now: number): number {
    return this.keepEndedMs > 0 ? state.c + this.keepEndedMs - now : state.resetMs
  }

  protected enter(state: KeyState, now: number): number {
    const hasEnded = now >= state.c
    state.rebased = now < state.a
    if (hasEnded || state.rebased) {
      const { start, end } = this.calendar.at(now)
      const continues = hasEnded && this.keepEndedMs > 0 && state.c > Math.max(0, start)
      if (hasEnded) state.b = 0
      state.a = continues ? state.c : start
      state.c = continues ? this.calendar.at(end).end : end
    }
    return state.c - now
  }

  protected isInWindow(state: KeyState, instant: number): boolean {
    return instant >= state.a
  }

  private edges(now: number): number[] {
    const { start, end } = this.calendar.at(now)
    const edges = [start, end]
    for (let i = 0; i < AROUND; i += 1) {
      edges.unshift(this.calendar.at((edges[0] as number) - 1).start)
      edges.push(this.calendar.at(edges.at(-1) as number).end)
    }
    edges.push(this.calendar.at(edges.at(-1) as number).end)
    return edges
  }
}

/** The algorithm of calendar windows: `window: 'day'` and the like choose it, not its name. */
export const calendarWindow: Algorithm = {
  name: 'fixed-window',
  options: {},
  maxLimit: MAX_LIMIT,
  keepsLog: false,
  compile: (params) =>
    new CalendarWindowLimit(params as AlgorithmParams & { readonly calendar: Calendar }),
  lua: calendarWindowLua,
}
