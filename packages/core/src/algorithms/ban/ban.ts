import type { Algorithm, AlgorithmParams, CompiledLimit, KeyState } from '../algorithm.ts'
import { ConstantLimit } from '../algorithm.ts'
import { banLua, MAX_BANS, RADIX } from './ban.lua.ts'

/** The most refusals that a ban takes to begin: they share an integer with the number of bans. */
export const MAX_REFUSALS = 100

/**
 * Refuses everything for a time once there were so many refusals (`limit`) within a window. The
 * window begins with a refusal, and the first one after it begins the next: fewer refusals in any
 * span as long as the window never lead to a ban, 2·limit − 1 always do. What a ban refuses counts
 * for nothing, so a ban ends when it said. The next one lasts as long as the next of the list says,
 * unless the window has passed since the last refusal, or the last ban: then all is forgotten.
 *
 * State: a = bans so far × 128 + refusals counted, b = when the first of these came, c = when the
 * last of these came (ms). Without any, b = when the last ban began, c = when it ends.
 */
class BanLimit extends ConstantLimit implements CompiledLimit {
  readonly algorithm = ban
  private readonly bansMs: readonly number[]

  constructor(params: AlgorithmParams) {
    const { limit, windowMs, bansMs = [] } = params
    const all = Array.from({ length: MAX_BANS }, (_, i) => (bansMs[i] ?? bansMs.at(-1)) as number)
    super(params, [limit, windowMs, ...all])
    this.bansMs = all
  }

  decide(state: KeyState, now: number): void {
    this.enter(state, now)
    state.counted = false
    this.show(state, now)
  }

  /** Counts a refusal, and shows what comes of it. */
  commit(state: KeyState, now: number, cost: number): void {
    if (cost === 0) return
    let count = state.a % RADIX
    let bans = (state.a - count) / RADIX
    if (count === 0 || now - state.b >= this.windowMs) {
      count = 0
      state.b = now
    }
    count += 1
    state.c = now
    if (count >= this.units) {
      count = 0
      bans = Math.min(bans + 1, MAX_BANS)
      state.b = now
      state.c = now + (this.bansMs[bans - 1] as number)
    }
    state.a = bans * RADIX + count
    state.counted = true
    this.show(state, now)
  }

  /** What requests really cost does not matter to it. */
  settle(state: KeyState, now: number): void {
    this.decide(state, now)
  }

  /**
   * Moves the state back with the clock, and forgets what is over. How long a ban lasts, its state
   * says: it ends when it said, even if the list has changed since.
   */
  private enter(state: KeyState, now: number): void {
    const isBan = state.a > 0 && state.a % RADIX === 0
    state.rebased = now < (isBan ? state.b : state.c)
    if (state.rebased) {
      state.c = isBan ? now + state.c - state.b : now
      state.b = Math.min(state.b, now)
    }
    if (now - state.c >= this.windowMs) state.a = state.b = state.c = 0
  }

  private show(state: KeyState, now: number): void {
    const { a, b, c } = state
    const count = a % RADIX
    const bannedMs = a > 0 && count === 0 ? Math.max(0, c - now) : 0
    const counted = now - b >= this.windowMs ? 0 : count
    state.admitted = bannedMs === 0
    state.remaining = bannedMs === 0 ? Math.max(0, this.units - counted) : 0
    state.resetMs = a === 0 ? 0 : c + this.windowMs - now
    state.retryAfterMs = bannedMs
    state.effectiveMs = bannedMs
    state.delayMs = 0
  }
}

/** What the option `ban` of a limiter is decided by. No policy can choose it. */
export const ban: Algorithm = {
  name: 'ban',
  options: {},
  maxLimit: MAX_REFUSALS,
  keepsLog: false,
  compile: (params) => new BanLimit(params),
  lua: banLua,
}
