import type { Algorithm, CompiledLimit, Correction, InLine, KeyState } from '../algorithm.ts'
import { ConstantLimit } from '../algorithm.ts'
import type { Step } from '../step.ts'
import { MAX_EXACT } from '../ticks.ts'

interface Constants {
  units: number
  /** ms */
  readonly windowMs: number
}

/** State: a = number of the window since the epoch, b = units charged in it. */
export const step = {
  enter(state, { windowMs }, now) {
    const number = Math.floor(now / windowMs)
    state.rebased = state.a > number
    if (state.a < number) state.b = 0
    state.a = number
  },

  room(state, { units }) {
    return units - state.b
  },

  commit(state, _constants, _now, cost) {
    state.b += cost
  },

  settle(state, { windowMs }, now, delta, chargedAt) {
    // Charges from before the clock stepped back have moved with the state.
    const number = Math.floor(Math.min(chargedAt, now) / windowMs)
    if (number === state.a) state.b = Math.min(MAX_EXACT, Math.max(0, state.b + delta))
  },

  full(state, { windowMs }, now) {
    return state.b > 0 ? (state.a + 1) * windowMs - now : 0
  },

  own(constants, ownLimit) {
    constants.units = Math.min(MAX_EXACT, ownLimit)
  },

  grantEnd(state, { windowMs }) {
    return (state.a + 1) * windowMs
  },
} satisfies Step<Constants>

/**
 * Counts per window. Admits at most twice the limit in a span as long as a window, across an edge.
 * Windows are aligned to the epoch on the store's clock, and numbered from there.
 */
export class FixedWindowLimit extends ConstantLimit implements CompiledLimit {
  readonly algorithm: Algorithm = fixedWindow

  decide(state: KeyState, now: number, cost: number): void {
    const endsIn = this.enter(state, now)
    const room = step.room(state, this)
    const admitted = cost <= room && room > 0
    const left = admitted ? room - cost : room

    state.admitted = admitted
    state.remaining = Math.max(0, left)
    state.excess = Math.max(0, -left)
    state.resetMs = left === this.units ? 0 : endsIn
    state.effectiveMs = admitted || Math.max(cost, 1) <= this.units ? endsIn : Infinity
    state.retryAfterMs = admitted ? 0 : state.effectiveMs
    state.delayMs = 0
  }

  commit(state: KeyState, now: number, cost: number): void {
    step.commit(state, this, now, cost)
  }

  settle(state: KeyState, now: number, { delta, chargedAt }: Correction): void {
    const endsIn = this.enter(state, now)
    this.correct(state, now, delta, chargedAt)
    const room = step.room(state, this)
    state.remaining = Math.max(0, room)
    state.excess = Math.max(0, -room)
    state.resetMs = state.b === 0 ? 0 : endsIn
  }

  grantEnd(state: KeyState, now: number): number {
    return now + this.enter(state, now)
  }

  earliest({ ahead, cost, at, limit }: InLine): number {
    const windows = Math.ceil((ahead + cost) / limit) - 1
    return windows > 0 ? this.edgeAfter(at, windows) : at
  }

  /** When so many windows have ended after this time at the earliest, ms since the epoch. */
  protected edgeAfter(at: number, windows: number): number {
    return (Math.floor(at / this.windowMs) + windows) * this.windowMs
  }

  /** Brings the state to `now`; returns the ms until its window ends. */
  protected enter(state: KeyState, now: number): number {
    step.enter(state, this, now)
    return step.grantEnd(state, this) - now
  }

  protected correct(state: KeyState, now: number, delta: number, chargedAt: number): void {
    step.settle(state, this, now, delta, chargedAt)
  }
}

export const fixedWindow: Algorithm = {
  name: 'fixed-window',
  options: {},
  // Units are only added and compared, so that each is exact.
  maxLimit: MAX_EXACT,
  keepsLog: false,
  compile: (params) => new FixedWindowLimit(params),
  lua: async () => (await import('./fixed-window.lua.generated.ts')).fixedWindowLua,
}
