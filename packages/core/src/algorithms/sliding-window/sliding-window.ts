import type {
  Algorithm,
  AlgorithmParams,
  CompiledLimit,
  Correction,
  InLine,
  KeyState,
} from '../algorithm.ts'
import { ConstantLimit, MAX_LIMIT } from '../algorithm.ts'
import type { Step } from '../step.ts'
import { coarseTicks, MAX_EXACT, tickAt, tickStart } from '../ticks.ts'

interface Constants {
  units: number
  /** ms */
  readonly windowMs: number
  /** In a window; 0: as many as it has ms. */
  ticks: number
}

/**
 * State: a = number of the window since the epoch, b = units charged in the window before it,
 * c = units charged in it.
 */
const step = {
  /** Where the clock has stepped back behind the state, all counts as the previous window's: so it is gone within one. */
  enter(state, { windowMs }, now) {
    const number = Math.floor(now / windowMs)
    state.rebased = state.a > number
    if (state.a !== number) {
      if (state.rebased) state.b = Math.min(MAX_EXACT, state.b + state.c)
      else if (state.a === number - 1) state.b = state.c
      else state.b = 0
      state.c = 0
      state.a = number
    }
  },

  room(state, { units, windowMs, ticks }, now) {
    if (state.b === 0) return units - state.c
    let inside = (state.a + 1) * windowMs - 1 - now
    let length = windowMs
    if (ticks > 0) {
      inside = tickAt(inside, windowMs, ticks)
      length = ticks
    }
    let previous = state.b
    // A larger count refuses all as well, and its product with the ticks may not be exact.
    if (previous > units) previous = Math.min(previous, Math.floor(MAX_EXACT / length))
    const counted = (previous * inside) / length
    return units - state.c - Math.floor(counted)
  },

  commit(state, _constants, _now, cost) {
    state.c += cost
  },

  settle(state, { windowMs }, _now, delta, chargedAt) {
    const number = Math.floor(chargedAt / windowMs)
    if (number === state.a) state.c = Math.min(MAX_EXACT, Math.max(0, state.c + delta))
    // A later window is one from before the clock stepped back, which has become the previous one.
    else if (number === state.a - 1 || number > state.a)
      state.b = Math.min(MAX_EXACT, Math.max(0, state.b + delta))
  },

  /** A count that has faded to nothing still counts if more is charged to its window. */
  full(state, { windowMs }, now) {
    if (state.c > 0) return (state.a + 2) * windowMs - now
    return state.b > 0 ? (state.a + 1) * windowMs - now : 0
  },

  own(constants, ownLimit) {
    constants.units = Math.min(MAX_LIMIT, ownLimit)
    constants.ticks = coarseTicks(constants.units, constants.windowMs)
  },

  grantEnd(_state, { windowMs }, now) {
    return now + windowMs
  },
} satisfies Step<Constants>

/**
 * Estimates the units of the last window, the span (now − window, now], as
 * `current + ⌊previous · inside / window⌋`: of the previous window `inside = window − 1 − elapsed`
 * milliseconds lie in that span. Rounding down never refuses a client that is evenly spaced at its
 * limit, and a single unit never waits longer than a window. Admits at most 2·limit in a span as
 * long as a window, close to the limit on ordinary traffic.
 */
class SlidingWindowLimit extends ConstantLimit implements CompiledLimit {
  readonly algorithm = slidingWindow
  readonly ticks: number

  constructor(params: AlgorithmParams) {
    const { limit, windowMs } = params
    const ticks = coarseTicks(limit, windowMs)
    super(params, ticks === 0 ? undefined : [limit, windowMs, ticks])
    this.ticks = ticks
  }

  decide(state: KeyState, now: number, cost: number): void {
    step.enter(state, this, now)
    const room = step.room(state, this, now)
    const admitted = cost <= room && room > 0
    const left = Math.max(0, admitted ? room - cost : room)
    const current = admitted ? state.c + cost : state.c
    const elapsed = now - state.a * this.windowMs

    state.admitted = admitted
    state.remaining = left
    state.excess = Math.max(0, -room)
    const fadesIn =
      current > 0 ? this.windowMs + this.#fadedBy(current, 0) : this.#fadedBy(state.b, 0)
    state.resetMs = Math.max(0, fadesIn - elapsed)
    state.effectiveMs =
      admitted && left > 0
        ? this.windowMs - elapsed
        : this.#wait(state.b, current, elapsed, admitted ? 1 : Math.max(cost, 1))
    state.retryAfterMs = admitted ? 0 : state.effectiveMs
    state.delayMs = 0
  }

  commit(state: KeyState, now: number, cost: number): void {
    step.commit(state, this, now, cost)
  }

  settle(state: KeyState, now: number, { delta, chargedAt }: Correction): void {
    step.enter(state, this, now)
    step.settle(state, this, now, delta, chargedAt)
    this.decide(state, now, 0)
  }

  keepMs(state: KeyState, now: number): number {
    return step.full(state, this, now)
  }

  grantEnd(state: KeyState, now: number): number {
    return step.grantEnd(state, this, now)
  }

  /** A charge made as soon as it fits fades as evenly as it was made; rounding down admits one unit more. */
  earliest({ ahead, cost, at, free, limit }: InLine): number {
    const beyond = ahead + cost - free - 1
    return at + Math.floor((Math.max(0, beyond) * this.windowMs) / limit)
  }

  /** ms until `cost` units fit, in this window or in the next one. */
  #wait(previous: number, current: number, elapsed: number, cost: number): number {
    if (cost > this.units) return Infinity
    const room = this.units - current - cost
    if (room >= 0 && previous > 0) return this.#fadedBy(previous, room) - elapsed
    return this.windowMs - elapsed + this.#fadedBy(current, this.units - cost)
  }

  /** ms into a window from which on no more than `room` units of the `previous` one count. */
  #fadedBy(previous: number, room: number): number {
    if (previous <= room) return 0
    const { windowMs } = this
    const ticks = this.ticks || windowMs
    const counted =
      previous > this.units ? Math.min(previous, Math.floor(MAX_EXACT / ticks)) : previous
    const tooMuch = Math.ceil(((room + 1) * ticks) / counted)
    // The usual tick is a millisecond.
    return windowMs - (this.ticks === 0 ? tooMuch : tickStart(tooMuch, windowMs, ticks))
  }
}

export const slidingWindow: Algorithm = {
  name: 'sliding-window',
  options: {},
  maxLimit: MAX_LIMIT,
  keepsLog: false,
  compile: (params) => new SlidingWindowLimit(params),
  lua: async () => (await import('./sliding-window.lua.generated.ts')).slidingWindowLua,
}
