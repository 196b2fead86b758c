import type { Algorithm, AlgorithmParams, KeyState } from '../algorithm.ts'
import { FixedWindowLimit } from '../fixed-window/fixed-window.ts'
import type { Step } from '../step.ts'
import { MAX_EXACT } from '../ticks.ts'
import type { Calendar } from './calendar.ts'

/** Windows before and after the present one that a step knows; of one more it knows the end. */
const AROUND = 2

interface Constants {
  units: number
  /** Where six windows begin and end, ms: the present one as the process sees it, two before and three after it. */
  readonly edge1: number
  readonly edge2: number
  readonly edge3: number
  readonly edge4: number
  readonly edge5: number
  readonly edge6: number
  readonly edge7: number
  /** How long a window that has ended is remembered, ms; 0: it is not. */
  readonly keepEndedMs: number
}

/** State: a = the start of the window, b = units charged in it, c = its end, ms since the epoch. */
const step = {
  enter(state, { edge1, edge2, edge3, edge4, edge5, edge6, edge7, keepEndedMs }, now) {
    state.rebased = now < state.a
    if (now >= state.c || state.rebased) {
      const ended = state.rebased ? 0 : state.c
      if (!state.rebased) state.b = 0
      let following = edge3
      if (now >= edge5) {
        state.a = edge5
        state.c = edge6
        following = edge7
      } else if (now >= edge4) {
        state.a = edge4
        state.c = edge5
        following = edge6
      } else if (now >= edge3) {
        state.a = edge3
        state.c = edge4
        following = edge5
      } else if (now >= edge2) {
        state.a = edge2
        state.c = edge3
        following = edge4
      } else {
        state.a = edge1
        state.c = edge2
      }
      if (keepEndedMs > 0 && ended > Math.max(0, state.a)) {
        state.a = ended
        state.c = following
      }
    }
  },

  settle(state, _constants, now, delta, chargedAt) {
    const at = Math.min(chargedAt, now)
    if (at >= state.a) state.b = Math.min(MAX_EXACT, Math.max(0, state.b + delta))
  },

  /** A window that has ended matters as long as the next one may have to begin at its end. */
  full(state, { keepEndedMs }, now) {
    if (keepEndedMs > 0) return state.c + keepEndedMs - now
    return state.b > 0 ? state.c - now : 0
  },

  grantEnd(state) {
    return state.c
  },
} satisfies Partial<Step<Constants>>

/**
 * The fixed window on a calendar.
 *
 * A window that has begun ends when it said, whatever calendar comes meanwhile; then the new calendar
 * counts from there, up to the end of the first of its windows that begins at that time or after it. So
 * no client begins windows faster by changing its anchor.
 */
class CalendarWindowLimit extends FixedWindowLimit {
  override readonly algorithm: Algorithm = calendarWindow
  readonly #calendar: Calendar
  #known: readonly number[] = []
  #edges: Constants | undefined
  #knownFor = Number.NaN

  constructor(params: AlgorithmParams) {
    super(params, [])
    this.#calendar = params.calendar as Calendar
  }

  /**
   * The limit, and the edges of the windows around `now`: which of these windows it is, the store's
   * clock says.
   */
  override constants(now: number): readonly number[] {
    this.#around(now)
    return this.#known
  }

  keepMs(state: KeyState, now: number): number {
    return step.full(state, this.#around(now), now)
  }

  protected override edgeAfter(at: number): number {
    return this.#calendar.at(at).end
  }

  protected override enter(state: KeyState, now: number): number {
    step.enter(state, this.#around(now), now)
    return step.grantEnd(state) - now
  }

  protected override correct(state: KeyState, now: number, delta: number, chargedAt: number): void {
    step.settle(state, this.#around(now), now, delta, chargedAt)
  }

  #around(now: number): Constants {
    const { start } = this.#calendar.at(now)
    if (start !== this.#knownFor || this.#edges === undefined) {
      const edges = this.#edgesAround(start)
      const [edge1, edge2, edge3, edge4, edge5, edge6, edge7] = edges as Edges
      const { units } = this
      const { keepEndedMs } = this.#calendar
      this.#edges = { units, edge1, edge2, edge3, edge4, edge5, edge6, edge7, keepEndedMs }
      this.#known = Object.values(this.#edges)
      this.#knownFor = start
    }
    return this.#edges
  }

  #edgesAround(start: number): number[] {
    let first = start
    for (let i = 0; i < AROUND; i += 1) first = this.#calendar.at(first - 1).start
    const edges = [first]
    while (edges.length < 2 * AROUND + 3) edges.push(this.#calendar.at(edges.at(-1) as number).end)
    return edges
  }
}

type Edges = [number, number, number, number, number, number, number]

/** The algorithm of calendar windows: `window: 'day'` and the like choose it, not its name. */
export const calendarWindow: Algorithm = {
  name: 'fixed-window',
  options: {},
  maxLimit: MAX_EXACT,
  keepsLog: false,
  compile: (params) => new CalendarWindowLimit(params),
  lua: async () => (await import('./calendar-window.lua.ts')).calendarLua,
}
