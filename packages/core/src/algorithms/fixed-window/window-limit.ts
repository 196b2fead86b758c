import type { Algorithm, AlgorithmParams, CompiledLimit, KeyState } from '../algorithm.ts'
import { MAX_EXACT } from '../ticks.ts'

/**
 * Counts per window. Admits at most twice the limit in a span as long as a window, across an edge.
 *
 * State: a = the window, b = units charged in it.
 */
export abstract class WindowLimit implements CompiledLimit {
  abstract readonly algorithm: Algorithm
  abstract readonly scale: string
  readonly units: number
  readonly windowMs: number

  constructor({ limit, windowMs }: AlgorithmParams) {
    this.units = limit
    this.windowMs = windowMs
  }

  abstract constants(now: number): readonly number[]
  /** The window that an instant is in, as an integer that grows from window to window. */
  protected abstract windowAt(instant: number): number
  /** When the window ends that an instant is in. */
  protected abstract endAt(instant: number): number

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
    if (this.windowAt(Math.min(chargedAt, now)) === state.a) {
      state.b = Math.min(MAX_EXACT, Math.max(0, state.b + delta))
    }
    state.remaining = Math.max(0, this.units - state.b)
    state.resetMs = state.b === 0 ? 0 : endsIn
  }

  /** Brings the state into the window of `now`; returns the ms until that window ends. */
  private enter(state: KeyState, now: number): number {
    const window = this.windowAt(now)
    state.rebased = state.a > window
    if (state.a < window) state.b = 0
    state.a = window
    return this.endAt(now) - now
  }
}
