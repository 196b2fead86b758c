import type { Algorithm, AlgorithmParams, CompiledLimit, KeyState } from '../algorithm.ts'
import { ConstantLimit } from '../algorithm.ts'
import {
  greatestCommonDivisor,
  MAX_EXACT,
  tickAt,
  tickFrom,
  tickStart,
  ticksPerWindow,
} from '../ticks.ts'

/**
 * A bucket that every admitted cost fills and that drains continuously: `limit` units per window.
 * The level is counted in parts of a unit so small that a whole number of them drains per tick:
 * with limit / window reduced to `rate / unit`, `unit` parts make one unit of cost and `rate`
 * parts drain per tick. So 3 per second drains exactly 3 in a second.
 *
 * The state of another limit is read in that limit's parts: the units that were taken stay, rounded up
 * by less than one. What drained since then has drained at this limit's rate, from the first of this
 * limit's ticks on.
 *
 * State: a = level in parts, b = when it had that level, ms since the epoch, c = parts per unit of cost.
 */
export class BucketLimit extends ConstantLimit implements CompiledLimit {
  readonly algorithm: Algorithm
  private readonly window: number
  private readonly ticks: number
  private readonly unit: number
  private readonly rate: number
  private readonly capacity: number
  private readonly queued: boolean

  /**
   * @param params `limit` units drain per window
   * @param most units that fit together, in addition to what drains in `queueMs`
   * @param queueMs adds what drains in this time to the capacity, for requests that wait, ms. Undefined: none waits
   * @param shown what the headers call the quota and its window
   */
  constructor(
    algorithm: Algorithm,
    params: AlgorithmParams,
    most: number,
    queueMs: number | undefined,
    shown?: { limit: number; windowMs: number },
  ) {
    const { limit, windowMs } = params
    const waitMs = queueMs ?? 0
    const queuedUnits = Math.ceil((waitMs / windowMs) * limit)
    const held = Math.max(most + queuedUnits, 1)
    // A limit of 0 admits nothing; what was taken before drains as slowly as with a limit of 1.
    const drained = Math.max(limit, 1)
    const divisor = greatestCommonDivisor(drained, windowMs)
    const exact = held * (windowMs / divisor) <= MAX_EXACT
    const ticks = exact ? windowMs : ticksPerWindow(held, windowMs)
    const reduced = exact ? divisor : greatestCommonDivisor(drained, ticks)
    const unit = ticks / reduced
    const rate = drained / reduced
    const capacity = limit === 0 ? 0 : most * unit + tickAt(waitMs, windowMs, ticks) * rate
    const numbers = [capacity, unit, rate, windowMs]
    if (!exact) numbers.push(ticks)
    super(params, numbers, shown)
    this.algorithm = algorithm
    this.window = windowMs
    this.queued = queueMs !== undefined
    this.ticks = ticks
    this.unit = unit
    this.rate = rate
    this.capacity = capacity
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

  /**
   * A bucket has no window: what has drained since the charge is no longer there to give back. In a queue,
   * those behind the charge keep their turns, so its place can't be given to others.
   */
  settle(
    state: KeyState,
    now: number,
    delta: number,
    chargedAt: number,
    _slot?: number,
    _reserved?: number,
    remaining?: number,
  ): void {
    const tick = this.drain(state, now)
    let change = delta * this.unit
    if (delta < 0) {
      const drained = Math.max(0, tick - tickAt(chargedAt, this.window, this.ticks)) * this.rate
      if (!this.queued) change = Math.min(0, change + drained)
      else if (!this.isLast(state.a + drained, change, remaining)) change = 0
    }
    state.a = Math.min(MAX_EXACT, Math.max(0, state.a + change))
    state.remaining = this.remaining(state.a)
    state.resetMs = this.after(tick, now, state.a)
  }

  /** For a smaller limit it is not full when it is for this one. */
  keepMs({ resetMs }: KeyState): number {
    return this.params.varies ? Math.max(resetMs, this.window) : resetMs
  }

  /** Brings the level to the tick of `now`, which it returns. */
  private drain(state: KeyState, now: number): number {
    const { window, ticks, unit } = this
    if (state.c !== unit) {
      if (state.c > 0) state.a = converted(state.a, state.c, unit)
      state.c = unit
    }
    state.rebased = state.b > now
    if (ticks === window) {
      if (state.b < now) state.a = Math.max(0, state.a - (now - state.b) * this.rate)
      state.b = now
      return now
    }
    const tick = tickAt(now, window, ticks)
    const start = tickStart(tick, window, ticks)
    const from = tickFrom(state.b, window, ticks)
    if (from < tick) state.a = Math.max(0, state.a - (tick - from) * this.rate)
    if (state.b < start || state.rebased) state.b = start
    return tick
  }

  /**
   * Whether nobody is behind the charge, and it has not been given back.
   *
   * @param level as it would be now without what has drained since the charge, parts
   * @param change what is given back, parts below 0
   * @param remaining what remained after the charge, units. Undefined: whether the queue had nothing else
   */
  private isLast(level: number, change: number, remaining: number | undefined): boolean {
    if (remaining === undefined) return level + change <= 0
    return Math.floor((this.capacity - level) / this.unit) === remaining
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

/** A level in parts of which `from` make a unit, in parts of which `to` do: rounded up by less than a unit. */
function converted(level: number, from: number, to: number): number {
  const rest = level % from
  const parts = rest * to
  const rounded = parts > MAX_EXACT ? to : Math.ceil(parts / from)
  return Math.min(MAX_EXACT, ((level - rest) / from) * to + rounded)
}
