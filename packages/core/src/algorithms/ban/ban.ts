import type { Algorithm, AlgorithmParams, CompiledLimit, KeyState } from '../algorithm.ts'
import { ConstantLimit } from '../algorithm.ts'
import type { List, Step } from '../step.ts'

/** The most refusals that a ban takes to begin: they share an integer with the number of bans. */
export const MAX_REFUSALS = 100
/** Bans of different lengths. */
export const MAX_BANS = 10
/** Refusals and bans share an integer. */
const RADIX = 128

interface Constants {
  /** Refusals. */
  readonly units: number
  /** ms */
  readonly windowMs: number
  /** How long each ban lasts, ms. */
  readonly bansMs: List<10>
}

/**
 * State: a = bans so far × 128 + refusals counted, b = when the first of these came, c = when the
 * last of these came (ms). Without any, b = when the last ban began, c = when it ends.
 */
const step = {
  /**
   * Forgets what is over. How long a ban lasts, its state says: it ends when it said, even if the list has
   * changed since.
   */
  enter(state, { windowMs }, now) {
    const isBan = state.a > 0 && refusalsIn(state.a) === 0
    const last = isBan ? state.b : state.c
    state.rebased = now < last
    if (state.rebased) {
      state.c = isBan ? now + state.c - state.b : now
      state.b = Math.min(state.b, now)
    }
    if (now - state.c >= windowMs) {
      state.a = 0
      state.b = 0
      state.c = 0
    }
  },

  /** One unit, or none during a ban. */
  room(state, _constants, now) {
    return state.a > 0 && refusalsIn(state.a) === 0 && now < state.c ? 0 : 1
  },

  /** Counts a refusal. */
  commit(state, { units, windowMs, bansMs }, now, cost) {
    if (cost > 0) {
      let count = refusalsIn(state.a)
      let bans = (state.a - count) / RADIX
      if (count === 0 || now - state.b >= windowMs) {
        count = 0
        state.b = now
      }
      count += 1
      state.c = now
      if (count >= units) {
        count = 0
        bans = Math.min(bans + 1, MAX_BANS)
        state.b = now
        state.c = now + (bansMs[bans - 1] as number)
      }
      state.a = bans * RADIX + count
    }
  },

  full(state, { windowMs }, now) {
    return state.a === 0 ? 0 : state.c + windowMs - now
  },
} satisfies Partial<Step<Constants>>

function refusalsIn(a: number): number {
  return a - Math.floor(a / RADIX) * RADIX
}

/**
 * Refuses everything for a time once there were so many refusals (`limit`) within a window. The
 * window begins with a refusal, and the first one after it begins the next: fewer refusals in any
 * span as long as the window never lead to a ban, 2·limit − 1 always do. What a ban refuses counts
 * for nothing, so a ban ends when it said. The next one lasts as long as the next of the list says,
 * unless the window has passed since the last refusal, or the last ban: then all is forgotten.
 */
class BanLimit extends ConstantLimit implements CompiledLimit {
  readonly algorithm = ban
  readonly bansMs: List<10>

  constructor(params: AlgorithmParams) {
    const { limit, windowMs, bansMs = [] } = params
    const all = Array.from({ length: MAX_BANS }, (_, i) => (bansMs[i] ?? bansMs.at(-1)) as number)
    super(params, [limit, windowMs, ...all])
    this.bansMs = all as unknown as List<10>
  }

  decide(state: KeyState, now: number): void {
    step.enter(state, this, now)
    state.counted = false
    this.#show(state, now)
  }

  /** Counts a refusal, and shows what comes of it. */
  commit(state: KeyState, now: number, cost: number): void {
    if (cost === 0) return
    step.commit(state, this, now, cost)
    state.counted = true
    this.#show(state, now)
  }

  /** A ban counts refusals, so corrected costs change nothing. */
  settle(state: KeyState, now: number): void {
    this.decide(state, now)
  }

  #show(state: KeyState, now: number): void {
    const room = step.room(state, this, now)
    const bannedMs = room === 0 ? state.c - now : 0
    const counted = now - state.b >= this.windowMs ? 0 : refusalsIn(state.a)
    state.admitted = room > 0
    state.remaining = room > 0 ? Math.max(0, this.units - counted) : 0
    state.excess = 0
    state.resetMs = step.full(state, this, now)
    state.retryAfterMs = bannedMs
    state.effectiveMs = bannedMs
    state.delayMs = 0
  }
}

/** The algorithm behind the option `ban`. No policy can choose it. */
export const ban: Algorithm = {
  name: 'ban',
  options: {},
  maxLimit: MAX_REFUSALS,
  keepsLog: false,
  chargedOn: 'refusal',
  compile: (params) => new BanLimit(params),
  lua: async () => (await import('./ban.lua.generated.ts')).banLua,
}
