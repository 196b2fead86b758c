import type { Algorithm, AlgorithmParams, CompiledLimit, KeyState } from '../algorithm.ts'
import { ConstantLimit, MAX_LIMIT } from '../algorithm.ts'
import { MAX_EXACT, tickAt, tickStart, ticksPerWindow } from '../ticks.ts'
import { slidingWindowLua } from './sliding-window.lua.ts'

/**
 * Estimates the units of the last window, the span (now − window, now], as
 * `current + ⌊previous · inside / window⌋`: of the previous window `inside = window − 1 − elapsed`
 * milliseconds lie in that span. Rounding down never refuses a client that is evenly spaced at its
 * limit, and a single unit never waits longer than a window. Admits at most 2·limit in a span as
 * long as a window, close to the limit on ordinary traffic.
 *
 * State: a = number of the window since the epoch, b = units charged in the window before it,
 * c = units charged in it.
 */
class SlidingWindowLimit extends ConstantLimit implements CompiledLimit {
  readonly algorithm = slidingWindow
  private readonly ticks: number
  /** The most of a count whose product with the window is exact. At least `limit`: more refuses all as well. */
  private readonly maxCount: number

  constructor(params: AlgorithmParams) {
    const { limit, windowMs } = params
    const ticks = ticksPerWindow(Math.max(limit, 1), windowMs)
    super(params, ticks === windowMs ? undefined : [limit, windowMs, ticks])
    this.ticks = ticks
    this.maxCount = Math.floor(MAX_EXACT / ticks)
  }

  decide(state: KeyState, now: number, cost: number): void {
    const elapsed = this.enter(state, now)
    const remaining = this.remaining(state, elapsed)
    const admitted = cost <= remaining && remaining > 0
    const left = admitted ? remaining - cost : remaining
    const current = admitted ? state.c + cost : state.c

    state.admitted = admitted
    state.remaining = left
    state.resetMs = this.reset(state.b, current, elapsed)
    state.effectiveMs =
      admitted && left > 0
        ? this.windowMs - elapsed
        : this.wait(state.b, current, elapsed, admitted ? 1 : Math.max(cost, 1))
    state.retryAfterMs = admitted ? 0 : state.effectiveMs
    state.delayMs = 0
  }

  commit(state: KeyState, _now: number, cost: number): void {
    state.c += cost
  }

  settle(state: KeyState, now: number, delta: number, chargedAt: number): void {
    const elapsed = this.enter(state, now)
    const charged = Math.floor(chargedAt / this.windowMs)
    if (charged === state.a) state.c = clamp(state.c + delta)
    // A later window is one from before the clock stepped back, which has become the previous one.
    else if (charged === state.a - 1 || charged > state.a) state.b = clamp(state.b + delta)
    state.remaining = this.remaining(state, elapsed)
    state.resetMs = this.reset(state.b, state.c, elapsed)
  }

  /** A count that has faded to nothing still counts if more is charged to its window. */
  keepMs({ a, b, c }: KeyState, now: number): number {
    if (b === 0 && c === 0) return 0
    return (c > 0 ? a + 2 : a + 1) * this.windowMs - now
  }

  grantEnd(_state: KeyState, now: number): number {
    return now + this.windowMs
  }

  /**
   * Brings the state into the window of `now`; returns the ms since that window began. Where the
   * clock has stepped back behind the state, all that was counted counts as the previous window's:
   * so it is gone within one window.
   */
  private enter(state: KeyState, now: number): number {
    const window = Math.floor(now / this.windowMs)
    state.rebased = state.a > window
    if (state.a !== window) {
      if (state.rebased) state.b = Math.min(MAX_EXACT, state.b + state.c)
      else state.b = state.a === window - 1 ? state.c : 0
      state.c = 0
      state.a = window
    }
    return now - window * this.windowMs
  }

  private remaining(state: KeyState, elapsed: number): number {
    let left = this.units - state.c
    if (state.b > 0) {
      const inside = tickAt(this.windowMs - 1 - elapsed, this.windowMs, this.ticks)
      left -= Math.floor((Math.min(state.b, this.maxCount) * inside) / this.ticks)
    }
    return Math.max(0, left)
  }

  private reset(previous: number, current: number, elapsed: number): number {
    if (current > 0) return this.windowMs - elapsed + this.fadedBy(current, 0)
    return Math.max(0, this.fadedBy(previous, 0) - elapsed)
  }

  /** ms until `cost` units fit, in this window or in the next one. */
  private wait(previous: number, current: number, elapsed: number, cost: number): number {
    if (cost > this.units) return Infinity
    const room = this.units - current - cost
    if (room >= 0 && previous > 0) return this.fadedBy(previous, room) - elapsed
    return this.windowMs - elapsed + this.fadedBy(current, this.units - cost)
  }

  /** ms into a window from which on no more than `room` units of the `previous` one count. */
  private fadedBy(previous: number, room: number): number {
    if (previous <= room) return 0
    const { ticks, windowMs, maxCount } = this
    const tooMuch = Math.ceil(((room + 1) * ticks) / Math.min(previous, maxCount))
    // The usual tick is a millisecond.
    return windowMs - (ticks === windowMs ? tooMuch : tickStart(tooMuch, windowMs, ticks))
  }
}

/** A version of the application with a larger limit may have counted more than this limit ever admits. */
function clamp(count: number): number {
  return Math.min(MAX_EXACT, Math.max(0, count))
}

export const slidingWindow: Algorithm = {
  name: 'sliding-window',
  options: {},
  maxLimit: MAX_LIMIT,
  keepsLog: false,
  compile: (params) => new SlidingWindowLimit(params),
  lua: slidingWindowLua,
}
