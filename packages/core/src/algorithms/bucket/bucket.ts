import type { Algorithm, CompiledLimit, KeyState } from '../algorithm.ts'
import { greatestCommonDivisor, MAX_EXACT, tickAt, tickStart, ticksPerWindow } from '../ticks.ts'

export interface BucketParams {
  algorithm: Algorithm
  /** What the headers call the quota and its window. */
  shown: { limit: number; windowMs: number }
  /** Units that drain per window. */
  limit: number
  windowMs: number
  /** See `AlgorithmParams`. */
  oneOfSeveral: boolean | undefined
  /** Units that fit together, in addition to what drains in `queueMs`. */
  capacity: number
  /** Adds what drains in this time to the capacity, for requests that wait, ms. */
  queueMs: number
}

/**
 * A bucket that every admitted cost fills and that drains continuously: `limit` units per window.
 * The level is counted in parts of a unit so small that a whole number of them drains per tick:
 * with limit / window reduced to `rate / unit`, `unit` parts make one unit of cost and `rate`
 * parts drain per tick. So 3 per second drains exactly 3 in a second. For a limit that varies, the
 * fraction is not reduced: then the parts, and so the state, are the same for every limit.
 *
 * State: a = level in parts, b = the tick at which it had that level.
 */
export class BucketLimit implements CompiledLimit {
  readonly algorithm: Algorithm
  readonly units: number
  readonly windowMs: number
  readonly scale: string
  private readonly numbers: readonly number[]
  private readonly window: number
  private readonly ticks: number
  private readonly unit: number
  private readonly rate: number
  private readonly capacity: number
  private readonly queued: boolean

  constructor(params: BucketParams) {
    this.algorithm = params.algorithm
    this.units = params.shown.limit
    this.windowMs = params.shown.windowMs
    this.window = params.windowMs
    this.queued = params.queueMs > 0

    const queuedUnits = Math.ceil((params.queueMs / params.windowMs) * params.limit)
    const most = Math.max(params.capacity + queuedUnits, 1)
    const divisor = params.oneOfSeveral ? 1 : greatestCommonDivisor(params.limit, params.windowMs)
    const exact = most * (params.windowMs / divisor) <= MAX_EXACT
    this.ticks = exact ? params.windowMs : ticksPerWindow(most, params.windowMs)
    // Few scales for many limits: at most one for each power of two.
    if (!exact && params.oneOfSeveral) this.ticks = 2 ** Math.floor(Math.log2(this.ticks))
    const reduced =
      exact || params.oneOfSeveral ? divisor : greatestCommonDivisor(params.limit, this.ticks)
    this.unit = this.ticks / reduced
    this.rate = Math.max(1, params.limit / reduced)
    this.capacity =
      params.limit === 0
        ? 0
        : params.capacity * this.unit + tickAt(params.queueMs, this.window, this.ticks) * this.rate
    this.scale = exact ? `${this.unit}` : `${this.unit}of${this.ticks}`
    const { capacity, unit, rate, window, ticks } = this
    this.numbers = exact ? [capacity, unit, rate, window] : [capacity, unit, rate, window, ticks]
  }

  constants(): readonly number[] {
    return this.numbers
  }

  decide(state: KeyState, now: number, cost: number): void {
    const tick = this.drain(state, now)
    const level = state.a
    const needed = Math.max(cost, 1) * this.unit
    const admitted = needed <= this.capacity - level
    const filled = admitted ? level + cost * this.unit : level

    const remaining = this.remaining(filled)
    state.admitted = admitted
    state.remaining = remaining
    state.resetMs = this.after(tick, now, filled)
    state.delayMs = admitted && this.queued ? this.after(tick, now, level) : 0
    if (!admitted) {
      state.effectiveMs =
        needed > this.capacity ? Infinity : this.after(tick, now, level - this.capacity + needed)
    } else if (remaining > 0) {
      state.effectiveMs = this.after(tick, now, remaining * this.unit)
    } else {
      state.effectiveMs = this.after(tick, now, filled + this.unit - this.capacity)
    }
    state.retryAfterMs = admitted ? 0 : state.effectiveMs
  }

  commit(state: KeyState, _now: number, cost: number): void {
    state.a += cost * this.unit
  }

  /** A bucket has no window: what has drained since the charge is no longer there to give back. */
  settle(state: KeyState, now: number, delta: number, chargedAt: number): void {
    const tick = this.drain(state, now)
    let change = delta * this.unit
    if (delta < 0) {
      const drained = Math.max(0, tick - tickAt(chargedAt, this.window, this.ticks)) * this.rate
      change = Math.min(0, change + drained)
    }
    state.a = Math.min(MAX_EXACT, Math.max(0, state.a + change))
    state.remaining = this.remaining(state.a)
    state.resetMs = this.after(tick, now, state.a)
  }

  /** Brings the level to the tick of `now`, which it returns. */
  private drain(state: KeyState, now: number): number {
    const tick = tickAt(now, this.window, this.ticks)
    state.rebased = state.b > tick
    if (state.b < tick) state.a = Math.max(0, state.a - (tick - state.b) * this.rate)
    state.b = tick
    return tick
  }

  private remaining(level: number): number {
    const room = this.capacity - level
    return room > 0 ? Math.floor(room / this.unit) : 0
  }

  /** ms from `now` until so many parts have drained. */
  private after(tick: number, now: number, parts: number): number {
    const ticks = Math.ceil(parts / this.rate)
    if (this.ticks === this.window) return ticks
    return ticks === 0 ? 0 : tickStart(tick + ticks, this.window, this.ticks) - now
  }
}
