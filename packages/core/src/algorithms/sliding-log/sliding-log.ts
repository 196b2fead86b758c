import type { Algorithm, CompiledLimit, Correction, InLine, KeyState } from '../algorithm.ts'
import { ConstantLimit } from '../algorithm.ts'
import { Log, MAX_LOG_LIMIT } from './log.ts'

/**
 * Counts the last window exactly: what was admitted in the half-open span (now − window, now].
 * Admits at most the limit in any span as long as a window, at the price of an entry for each
 * millisecond in which something was admitted.
 *
 * State: the log; a, b and c are unused. Entries later than `now`, because the clock has stepped
 * back, count as of `now`.
 */
class SlidingLogLimit extends ConstantLimit implements CompiledLimit {
  readonly algorithm = slidingLog

  decide(state: KeyState, now: number, cost: number): void {
    const { log } = state
    const used = log === undefined ? 0 : this.#used(log, now)
    const newest = log?.newest
    const room = this.units - used
    const admitted = cost <= room && room > 0

    state.admitted = admitted
    state.rebased = newest !== undefined && newest > now
    state.remaining = Math.max(0, admitted ? room - cost : room)
    state.excess = Math.max(0, -room)
    state.resetMs = this.#reset(admitted ? cost : 0, used, newest, now)
    state.effectiveMs = admitted
      ? this.#wait(log, now, state.remaining > 0 ? 0 : 1, cost)
      : this.#waitOfRefusal(log, now, Math.max(cost, 1), room)
    state.retryAfterMs = admitted ? 0 : state.effectiveMs
    state.delayMs = 0
  }

  commit(state: KeyState, now: number, cost: number): void {
    if (state.log === undefined) state.log = new Log()
    state.log.clampTo(now)
    state.log.dropUntil(now - this.windowMs)
    if (cost > 0) state.log.add(now, cost)
  }

  settle(state: KeyState, now: number, { delta, chargedAt }: Correction): void {
    this.commit(state, now, 0)
    const log = state.log as Log
    const at = Math.min(chargedAt, now)
    if (at > now - this.windowMs) {
      if (delta > 0) log.add(at, delta)
      else log.takeBack(at, -delta)
    }
    const used = this.#used(log, now)
    state.remaining = Math.max(0, this.units - used)
    state.excess = Math.max(0, used - this.units)
    state.resetMs = this.#reset(0, used, log.newest, now)
  }

  grantEnd(_state: KeyState, now: number): number {
    return now + this.windowMs
  }

  earliest({ ahead, cost, at, limit }: InLine): number {
    return at + (Math.ceil(Math.max(1, ahead + cost) / limit) - 1) * this.windowMs
  }

  #used(log: Log, now: number): number {
    return log.total - log.unitsUntil(now - this.windowMs)
  }

  #reset(added: number, used: number, newest: number | undefined, now: number): number {
    if (added > 0) return this.windowMs
    if (used === 0 || newest === undefined) return 0
    return Math.min(newest, now) + this.windowMs - now
  }

  /** A cost that never fits is refused without reading the log, however long that is. */
  #waitOfRefusal(log: Log | undefined, now: number, units: number, room: number): number {
    return units > this.units ? Infinity : this.#wait(log, now, units - room, 0)
  }

  /**
   * ms until the oldest entries that hold `units` have left the window, counting `added` units of
   * now as the newest entry. With 0 units: until the oldest one leaves.
   */
  #wait(log: Log | undefined, now: number, units: number, added: number): number {
    const time = log?.timeOf(Math.max(units, 1), now - this.windowMs)
    if (time !== undefined) return Math.min(time, now) + this.windowMs - now
    const used = log === undefined ? 0 : this.#used(log, now)
    return used + added >= units ? this.windowMs : Infinity
  }
}

export const slidingLog: Algorithm = {
  name: 'sliding-log',
  options: {},
  maxLimit: MAX_LOG_LIMIT,
  keepsLog: true,
  compile: (params) => new SlidingLogLimit(params),
  lua: async () => (await import('./sliding-log.lua.ts')).slidingLogLua,
}
