import { type Algorithm, type AlgorithmParams, type KeyState, MAX_LIMIT } from '../algorithm.ts'
import { fixedWindowLua } from './fixed-window.lua.ts'
import { WindowLimit } from './window-limit.ts'

/** Windows are aligned to the epoch on the store's clock, and numbered from there. */
class FixedWindowLimit extends WindowLimit {
  readonly algorithm = fixedWindow
  readonly scale = ''
  private readonly numbers: readonly number[]

  constructor(params: AlgorithmParams) {
    super(params)
    this.numbers = [params.limit, params.windowMs]
  }

  constants(): readonly number[] {
    return this.numbers
  }

  protected enter(state: KeyState, now: number): number {
    const window = this.windowAt(now)
    state.rebased = state.a > window
    if (state.a < window) state.b = 0
    state.a = window
    return (window + 1) * this.windowMs - now
  }

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
  maxLimit: MAX_LIMIT,
  keepsLog: false,
  compile: (params) => new FixedWindowLimit(params),
  lua: fixedWindowLua,
}
