import { type Algorithm, type AlgorithmParams, type KeyState, MAX_LIMIT } from '../algorithm.ts'
import { WindowLimit } from '../fixed-window/window-limit.ts'
import type { Calendar } from './calendar.ts'
import lua from './calendar-window.lua.generated.ts'

/** Windows before and after the present one that the Lua form knows the edges of. */
const AROUND = 2

/**
 * The fixed window on a calendar. State: a = the start of the window, c = its end, ms since the epoch.
 *
 * A window counts until its own end, whatever calendar comes meanwhile: else a client whose anchor
 * changes would begin a new window each time.
 */
class CalendarWindowLimit extends WindowLimit {
  readonly algorithm = calendarWindow
  readonly scale: string
  private readonly calendar: Calendar
  /** The Lua form's constants for `knownFor`. */
  private known: readonly number[] = []
  private knownFor = Number.NaN

  constructor(params: AlgorithmParams & { readonly calendar: Calendar }) {
    super(params)
    this.calendar = params.calendar
    this.scale = params.calendar.name
  }

  /**
   * The limit, and the edges of the windows around `now`: which of these windows it is, the store's
   * clock says.
   */
  constants(now: number): readonly number[] {
    const { start } = this.calendar.at(now)
    if (start !== this.knownFor) {
      this.known = [this.units, ...this.edges(now)]
      this.knownFor = start
    }
    return this.known
  }

  protected enter(state: KeyState, now: number): number {
    const hasEnded = now >= state.c
    state.rebased = now < state.a
    if (hasEnded || state.rebased) {
      const { start, end } = this.calendar.at(now)
      if (hasEnded) state.b = 0
      state.a = start
      state.c = end
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
    return edges
  }
}

/** Chosen by `window: 'day'` and the like, not by its name. */
export const calendarWindow: Algorithm = {
  name: 'fixed-window',
  options: {},
  maxLimit: MAX_LIMIT,
  keepsLog: false,
  compile: (params) =>
    new CalendarWindowLimit(params as AlgorithmParams & { readonly calendar: Calendar }),
  lua,
}
