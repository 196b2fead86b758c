import type {
  Algorithm,
  AlgorithmParams,
  Claim,
  CompiledLimit,
  Correction,
  InLine,
  KeyState,
} from '../algorithm.ts'
import { ConstantLimit, MAX_LIMIT } from '../algorithm.ts'
import type { Step } from '../step.ts'
import {
  coarseTicks,
  greatestCommonDivisor,
  MAX_EXACT,
  tickAt,
  tickFrom,
  tickStart,
} from '../ticks.ts'

/** A bucket that drains at once is kept for a window, up to this long, ms. */
const KEPT_MS = 3_600_000

/** The longest that an admitted request waits in a queue, unless its policy says otherwise, ms. */
export const MAX_DELAY_MS = 1000

interface Constants {
  /** Parts. */
  capacity: number
  /** Parts per unit of cost. */
  unit: number
  /** Parts that drain per tick. */
  rate: number
  /** ms */
  readonly window: number
  /** In a window; 0: as many as it has ms. */
  ticks: number
}

/** State: a = level in parts, b = when it had that level, ms since the epoch, c = parts per unit of cost. */
export const step = {
  enter(state, { unit, rate, window, ticks }, now) {
    if (state.c !== unit) {
      if (state.c > 0) {
        // The units of another limit's state, rounded up by less than one.
        const rest = state.a - Math.floor(state.a / state.c) * state.c
        const parts = rest * unit > MAX_EXACT ? unit : Math.ceil((rest * unit) / state.c)
        state.a = Math.min(MAX_EXACT, ((state.a - rest) / state.c) * unit + parts)
      }
      state.c = unit
    }
    state.rebased = state.b > now
    let drained = now - state.b
    let start = now
    if (ticks > 0) {
      const tick = tickAt(now, window, ticks)
      drained = tick - tickFrom(state.b, window, ticks)
      start = tickStart(tick, window, ticks)
    }
    if (drained > 0) {
      state.a -= drained * rate
      if (state.a < 0) state.a = 0
    }
    if (state.b < start || state.rebased) state.b = start
  },

  room(state, { capacity, unit }) {
    const free = capacity - state.a
    return Math.floor(free / unit)
  },

  commit(state, { unit }, _now, cost) {
    state.a += cost * unit
  },

  /** A bucket has no window: what has drained since the charge is no longer there to give back. */
  settle(state, { unit, rate, window, ticks }, now, delta, chargedAt) {
    let change = delta * unit
    if (delta < 0) {
      const drained = drainedTicks(chargedAt, now, window, ticks)
      change = Math.min(0, change + drained * rate)
    }
    state.a = Math.min(MAX_EXACT, Math.max(0, state.a + change))
  },

  full(state, { rate, window, ticks }, now) {
    const drained = Math.ceil(state.a / rate)
    return spanOf(drained, window, ticks, now)
  },

  /**
   * As long again, since most requests fill it further, and at least for a window: so few requests
   * must renew the life of the key, or create it again.
   */
  keep(_state, { window }, fullIn) {
    const twice = 2 * fullIn
    const least = Math.min(window, KEPT_MS)
    return Math.max(twice, least)
  },

  own(constants, ownLimit, ownBurst) {
    const limit = Math.min(MAX_LIMIT, ownLimit)
    const burst = ownBurst < 0 ? limit : ownBurst
    const most = limit === 0 ? 0 : burst
    measure(constants, limit, most, 0)
  },
} satisfies Step<Constants>

/** The step of a queue, where it differs: those behind a charge keep their turns, so its place can't be given to others. */
const queue = {
  settle(state, { capacity, unit, rate, window, ticks }, now, delta, chargedAt, remaining) {
    let change = delta * unit
    if (delta < 0) {
      // The level without what has drained since the charge.
      const drained = drainedTicks(chargedAt, now, window, ticks)
      const level = state.a + drained * rate
      const left = Math.floor((capacity - level) / unit)
      if (remaining < 0) {
        if (level + change > 0) change = 0
      } else if (left !== remaining) change = 0
    }
    state.a = Math.min(MAX_EXACT, Math.max(0, state.a + change))
  },

  own(constants, ownLimit, _ownBurst, ownDelay) {
    const limit = Math.min(MAX_LIMIT, ownLimit)
    const waitMs = ownDelay < 0 ? MAX_DELAY_MS : ownDelay
    measure(constants, limit, 1, waitMs)
  },
} satisfies Partial<Step<Constants>>

/**
 * Sets the parts of a bucket from which `limit` units drain per window.
 *
 * @param most units that fit together, in addition to what drains in `waitMs`
 */
function measure(constants: Constants, limit: number, most: number, waitMs: number): void {
  const windowMs = constants.window
  const queuedUnits = Math.ceil((waitMs / windowMs) * limit)
  const held = Math.max(most + queuedUnits, 1)
  // A limit of 0 admits nothing; what was taken before drains as slowly as with a limit of 1.
  const drained = Math.max(limit, 1)
  const divisor = greatestCommonDivisor(drained, windowMs)
  const isFine = held * (windowMs / divisor) <= MAX_EXACT
  constants.ticks = isFine ? 0 : coarseTicks(held, windowMs)
  const length = isFine ? windowMs : constants.ticks
  const reduced = isFine ? divisor : greatestCommonDivisor(drained, length)
  constants.unit = length / reduced
  constants.rate = drained / reduced
  const waitTicks = isFine ? waitMs : tickAt(waitMs, windowMs, length)
  constants.capacity = limit === 0 ? 0 : most * constants.unit + waitTicks * constants.rate
}

/** Ticks from one time to another, in which a bucket drains: 0 where the clock has stepped back. */
function drainedTicks(from: number, now: number, window: number, ticks: number): number {
  return Math.max(
    0,
    ticks === 0 ? now - from : tickAt(now, window, ticks) - tickAt(from, window, ticks),
  )
}

/** ms from `now` until so many ticks have begun. */
function spanOf(drained: number, window: number, ticks: number, now: number): number {
  return ticks === 0 || drained === 0
    ? drained
    : tickStart(tickAt(now, window, ticks) + drained, window, ticks) - now
}

/**
 * A bucket that every admitted cost fills and that drains continuously: `limit` units per window.
 * The level is counted in parts of a unit so small that a whole number of them drains per tick:
 * with limit / window reduced to `rate / unit`, `unit` parts make one unit of cost and `rate`
 * parts drain per tick. So 3 per second drains exactly 3 in a second.
 *
 * The state of another limit is read in that limit's parts: the units that were taken stay, rounded up
 * by less than one. What drained since then has drained at this limit's rate, from the first of this
 * limit's ticks on.
 */
export class BucketLimit extends ConstantLimit implements CompiledLimit {
  readonly algorithm: Algorithm
  readonly placeOf: ((remaining: number) => Claim) | undefined
  readonly #constants: Constants
  readonly #queued: boolean

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
    const constants = { capacity: 0, unit: 0, rate: 0, window: windowMs, ticks: 0 }
    measure(constants, limit, most, queueMs ?? 0)
    const { capacity, unit, rate, ticks } = constants
    const numbers = [capacity, unit, rate, windowMs]
    if (ticks > 0) numbers.push(ticks)
    super(params, numbers, shown)
    this.algorithm = algorithm
    this.#constants = constants
    this.#queued = queueMs !== undefined
    this.placeOf = this.#queued ? (remaining) => [remaining] : undefined
  }

  decide(state: KeyState, now: number, cost: number): void {
    const constants = this.#constants
    const { capacity, unit } = constants
    step.enter(state, constants, now)
    const room = step.room(state, constants)
    const admitted = cost <= room && room > 0
    const level = state.a
    const needed = Math.max(cost, 1) * unit
    const filled = admitted ? level + cost * unit : level

    const remaining = Math.max(0, admitted ? room - cost : room)
    state.admitted = admitted
    state.remaining = remaining
    state.excess = Math.max(0, -room)
    state.resetMs = this.#after(now, filled)
    state.delayMs = admitted && this.#queued ? this.#after(now, level) : 0
    if (!admitted) {
      state.effectiveMs = needed > capacity ? Infinity : this.#after(now, level - capacity + needed)
    } else if (remaining > 0) {
      state.effectiveMs = this.#after(now, remaining * unit)
    } else {
      state.effectiveMs = this.#after(now, filled + unit - capacity)
    }
    state.retryAfterMs = admitted ? 0 : state.effectiveMs
  }

  commit(state: KeyState, now: number, cost: number): void {
    step.commit(state, this.#constants, now, cost)
  }

  settle(state: KeyState, now: number, { delta, chargedAt, claim }: Correction): void {
    const constants = this.#constants
    step.enter(state, constants, now)
    if (this.#queued) queue.settle(state, constants, now, delta, chargedAt, claim?.[0] ?? -1)
    else step.settle(state, constants, now, delta, chargedAt)
    const room = step.room(state, constants)
    state.remaining = Math.max(0, room)
    state.excess = Math.max(0, -room)
    state.resetMs = step.full(state, constants, now)
  }

  /** For a smaller limit it is not full when it is for this one. */
  keepMs({ resetMs }: KeyState): number {
    return this.params.varies ? Math.max(resetMs, this.params.windowMs) : resetMs
  }

  /** In a queue, the own cost keeps only those behind it waiting. */
  earliest({ ahead, cost, at, free, limit, windowMs }: InLine): number {
    const beyond = Math.max(0, this.#queued ? ahead : ahead + cost - free)
    if (limit === this.units && windowMs === this.windowMs)
      return at + Math.floor((beyond * this.params.windowMs) / this.params.limit)
    // Of an own limit, only what is shown is known, and a token bucket rounds its time up.
    return at + Math.floor((beyond * (this.#queued ? windowMs : windowMs - 1)) / limit)
  }

  /** ms from `now` until so many parts have drained. */
  #after(now: number, parts: number): number {
    const { rate, window, ticks } = this.#constants
    return spanOf(Math.ceil(parts / rate), window, ticks, now)
  }
}
