import {
  type Algorithm,
  type AlgorithmParams,
  type CompiledLimit,
  type KeyState,
  MAX_LIMIT,
} from '../algorithm.ts'
import { MAX_EXACT } from '../ticks.ts'
import lua from './fixed-window.lua.generated.ts'

/**
 * Counts per window; windows are aligned to the epoch on the store's clock. Admits at most twice
 * the limit in a span as long as a window, across an edge.
 *
 * State: a = number of the window since the epoch, b = units charged in it.
 */
class FixedWindowLimit implements CompiledLimit {
  readonly algorithm = fixedWindow
  readonly units: number
  readonly windowMs: number
  readonly scale = ''
  readonly numbers: readonly number[]

  constructor({ limit, windowMs }: AlgorithmParams) {
    this.units = limit
    this.windowMs = windowMs
    this.numbers = [limit, windowMs]
  }

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
    if (Math.floor(Math.min(chargedAt, now) / this.windowMs) === state.a) {
      state.b = Math.min(MAX_EXACT, Math.max(0, state.b + delta))
    }
    state.remaining = Math.max(0, this.units - state.b)
    state.resetMs = state.b === 0 ? 0 : endsIn
  }

  /** Brings the state into the window of `now`; returns the ms until that window ends. */
  private enter(state: KeyState, now: number): number {
    const window = Math.floor(now / this.windowMs)
    state.rebased = state.a > window
    if (state.a < window) state.b = 0
    state.a = window
    return (window + 1) * this.windowMs - now
  }
}

export const fixedWindow: Algorithm = {
  name: 'fixed-window',
  options: {},
  maxLimit: MAX_LIMIT,
  keepsLog: false,
  compile: (params) => new FixedWindowLimit(params),
  lua,
}
