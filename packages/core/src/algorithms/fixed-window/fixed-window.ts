import type { Algorithm, CompiledLimit, KeyState } from '../algorithm.ts'
import { ConstantLimit } from '../algorithm.ts'
import { MAX_EXACT } from '../ticks.ts'
import { fixedWindowLua } from './fixed-window.lua.ts'

/**
 * Counts per window. Admits at most twice the limit in a span as long as a window, across an edge.
 * Windows are aligned to the epoch on the store's clock, and numbered from there.
 *
 * State: a = number of the window since the epoch, b = units charged in it.
 */
export class FixedWindowLimit extends ConstantLimit implements CompiledLimit {
  readonly algorithm: Algorithm = fixedWindow

  decide(state: KeyState, now: number, cost: number): void {
    const endsIn = this.enter(state, now)
    const room = this.units - state.b
    const admitted = cost <= room && room > 0
    const used = admitted ? state.b + cost : state.b

    state.admitted = admitted
    state.remaining = Math.max(0, this.units - used)
    state.resetMs = used === 0 ? 0 : endsIn
    state.effectiveMs = admitted || Math.max(cost, 1) <= this.units ? endsIn : Infinity
    state.retryAfterMs = admitted ? 0 : state.effectiveMs
    state.delayMs = 0
  }

  commit(state: KeyState, _now: number, cost: number): void {
    state.b += cost
  }

  settle(state: KeyState, now: number, delta: number, chargedAt: number): void {
    const endsIn = this.enter(state, now)
    // What was charged before the clock stepped back has moved with the state.
    if (this.isInWindow(state, Math.min(chargedAt, now))) {
      state.b = Math.min(MAX_EXACT, Math.max(0, state.b + delta))
    }
    state.remaining = Math.max(0, this.units - state.b)
    state.resetMs = state.b === 0 ? 0 : endsIn
  }

  grantEnd(state: KeyState, now: number): number {
    return now + this.enter(state, now)
  }

  /**
   * Brings the state into the window of `now`, and says in `rebased` whether the clock stepped back;
   * returns the ms until that window ends.
   */
  protected enter(state: KeyState, now: number): number {
    const window = this.windowAt(now)
    state.rebased = state.a > window
    if (state.a < window) state.b = 0
    state.a = window
    return (window + 1) * this.windowMs - now
  }

  /** Whether an instant that is not after now is in the window of a state that has been entered. */
  protected isInWindow(state: KeyState, instant: number): boolean {
    return this.windowAt(instant) === state.a
  }

  private windowAt(instant: number): number {
    return Math.floor(instant / this.windowMs)
  }
}

export const fixedWindow: Algorithm = {
  name: 'fixed-window',
  options: {},
  // Units are only added and compared, so that each is exact.
  maxLimit: MAX_EXACT,
  keepsLog: false,
  compile: (params) => new FixedWindowLimit(params),
  lua: fixedWindowLua,
}
