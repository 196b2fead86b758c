import type { Algorithm, CompiledLimit, KeyState } from '../algorithm.ts'
import { ConstantLimit } from '../algorithm.ts'
import { Log } from '../sliding-log/log.ts'
import { ASK_AGAIN_MS, concurrencyLua } from './concurrency.lua.ts'

/** The state has an entry for each slot in use. */
const MAX_CONCURRENT = 1000

/**
 * Counts what is in use at the same time. A charge is a slot, with a number that its process has
 * chosen. It is in use until it is given back by that number, or has not been renewed for
 * `windowMs`, here the time for which a slot is held.
 *
 * State: a log whose entries are a slot each: until when it is held, and its number; the next to
 * expire first. a, b and c are unused. A slot that is held for longer, since the clock has stepped
 * back, is held as of `now`.
 */
class ConcurrencyLimit extends ConstantLimit implements CompiledLimit {
  readonly algorithm = concurrency

  decide(state: KeyState, now: number, cost: number): void {
    const { log } = state
    const latest = now + this.windowMs
    const newest = log === undefined || log.length === 0 ? now : log.time(log.length - 1)
    const room = this.units - (log === undefined ? 0 : inUse(log, now))
    const admitted = cost <= room && room > 0

    state.admitted = admitted
    state.rebased = newest > latest
    state.remaining = Math.max(0, admitted ? room - cost : room)
    state.resetMs =
      admitted && cost > 0 ? this.windowMs : Math.max(0, Math.min(newest, latest) - now)
    state.effectiveMs = Math.max(cost, 1) > this.units ? Infinity : ASK_AGAIN_MS
    state.retryAfterMs = admitted ? 0 : state.effectiveMs
    state.delayMs = 0
  }

  commit(state: KeyState, now: number, cost: number, slot?: number): void {
    this.replace(state, now, slotsOf(cost, slot), true)
  }

  settle(state: KeyState, now: number, delta: number, _chargedAt: number, slot?: number): void {
    this.replace(state, now, slotsOf(delta, slot), delta > 0)
    this.show(state, now)
  }

  renew(state: KeyState, now: number, slots: readonly number[]): void {
    this.replace(state, now, slots, true)
    this.show(state, now)
  }

  /** Takes slots out of those in use at `now`, and holds them anew. */
  private replace(state: KeyState, now: number, slots: readonly number[], isHeld: boolean): void {
    const { log } = state
    const latest = now + this.windowMs
    const replaced = new Set(slots)
    const held = new Log()
    for (let i = 0; log !== undefined && i < log.length; i += 1) {
      const [until, slot] = [log.time(i), log.cost(i)]
      if (until > now && !replaced.has(slot)) held.push(Math.min(until, latest), slot)
    }
    if (isHeld) for (const slot of replaced) held.push(latest, slot)
    state.log = held
  }

  private show(state: KeyState, now: number): void {
    const log = state.log as Log
    state.remaining = Math.max(0, this.units - log.length)
    state.resetMs = log.length === 0 ? 0 : log.time(log.length - 1) - now
  }
}

/** The slot whose charge changes by so many units, if it does. */
function slotsOf(units: number, slot: number | undefined): number[] {
  return units === 0 || slot === undefined ? [] : [slot]
}

function inUse(log: Log, now: number): number {
  let expired = 0
  while (expired < log.length && log.time(expired) <= now) expired += 1
  return log.length - expired
}

/**
 * The algorithm of policies with `concurrent`. It is not in the registry, since no other policy can have it.
 */
export const concurrency: Algorithm = {
  name: 'concurrency',
  options: {},
  maxLimit: MAX_CONCURRENT,
  keepsLog: true,
  holdsSlots: true,
  compile: (params) => new ConcurrencyLimit(params),
  lua: concurrencyLua,
}
