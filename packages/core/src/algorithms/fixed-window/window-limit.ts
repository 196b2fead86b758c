import type { Algorithm, AlgorithmParams, CompiledLimit, KeyState } from '../algorithm.ts'
import { MAX_EXACT } from '../ticks.ts'

/**
 * Counts per window. Admits at most twice the limit in a span as long as a window, across an edge.
 *
 * State: a = the window, b = units charged in it; the subclass says what the rest is.
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
  /**
   * Brings the state into the window of `now`, and says in `rebased` whether the clock stepped back;
   * returns the ms until that window ends.
   */
  protected abstract enter(state: KeyState, now: number): number
  /** Whether an instant that is not after now is in the window of a state that has been entered. */
  protected abstract isInWindow(state: KeyState, instant: number): boolean

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
}
