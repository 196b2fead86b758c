import type { Algorithm, Cell, Quota, Terms } from '../algorithm.ts'
import { MAX_EXACT } from '../ticks.ts'
import lua from './fixed-window.lua.generated.ts'

/**
 * Counts per window; windows are aligned to the epoch on the store's clock. Admits at most twice
 * the limit in a span as long as a window, across an edge.
 *
 * State: a = number of the window since the epoch, b = units charged in it.
 */
class FixedWindowQuota implements Quota {
  readonly algorithm = fixedWindow
  readonly limit: number
  readonly windowMs: number
  readonly scale = ''
  readonly numbers: readonly number[]

  constructor({ limit, windowMs }: Terms) {
    this.limit = limit
    this.windowMs = windowMs
    this.numbers = [limit, windowMs]
  }

  decide(cell: Cell, now: number, cost: number): void {
    const endsIn = this.enter(cell, now)
    const room = this.limit - cell.b
    const admitted = cost <= room && room > 0
    const used = admitted ? cell.b + cost : cell.b

    cell.admitted = admitted
    cell.remaining = Math.max(0, this.limit - used)
    cell.resetMs = used === 0 ? 0 : endsIn
    cell.waitMs = admitted || Math.max(cost, 1) <= this.limit ? endsIn : Infinity
    cell.delayMs = 0
  }

  commit(cell: Cell, _now: number, cost: number): void {
    cell.b += cost
  }

  settle(cell: Cell, now: number, delta: number, chargedAt: number): void {
    const endsIn = this.enter(cell, now)
    // What was charged before the clock stepped back has moved with the state.
    if (Math.floor(Math.min(chargedAt, now) / this.windowMs) === cell.a) {
      cell.b = Math.min(MAX_EXACT, Math.max(0, cell.b + delta))
    }
    cell.remaining = Math.max(0, this.limit - cell.b)
    cell.resetMs = cell.b === 0 ? 0 : endsIn
  }

  /** Brings the state into the window of `now`; returns the ms until that window ends. */
  private enter(cell: Cell, now: number): number {
    const window = Math.floor(now / this.windowMs)
    cell.rebased = cell.a > window
    if (cell.a < window) cell.b = 0
    cell.a = window
    return (window + 1) * this.windowMs - now
  }
}

export const fixedWindow: Algorithm = {
  name: 'fixed-window',
  compile: (terms) => new FixedWindowQuota(terms),
  lua,
}
