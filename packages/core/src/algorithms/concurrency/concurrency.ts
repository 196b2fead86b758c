import type { Algorithm, Claim, CompiledLimit, Correction, KeyState } from '../algorithm.ts'
import { ConstantLimit } from '../algorithm.ts'
import { slotOf } from '../held/claim.ts'
import { Held, MAX_CONCURRENT, SLOT_WAIT_MS } from '../held/held.ts'

/**
 * Counts what is in use at the same time. A charge is a slot, with a number that its process has
 * chosen. It is in use until it is given back by that number, or has not been renewed for
 * `windowMs`, here the time for which a slot is held.
 *
 * State: what is held, an entry for each slot. a, b and c are unused. After the clock has stepped back, each slot
 * is held as of `now`, for as long as it says itself: another version of the application may hold its slots for longer.
 */
class ConcurrencyLimit extends ConstantLimit implements CompiledLimit {
  readonly algorithm = concurrency

  decide(state: KeyState, now: number, cost: number): void {
    const { held } = state
    const room = this.units - (held === undefined ? 0 : held.length - held.endedAt(now))
    const lastMs = held === undefined ? 0 : held.lastEnd(now) - now
    const admitted = cost <= room && room > 0

    state.admitted = admitted
    state.rebased = held !== undefined && held.clock > now
    state.remaining = Math.max(0, admitted ? room - cost : room)
    state.excess = Math.max(0, -room)
    state.resetMs = admitted && cost > 0 ? Math.max(this.windowMs, lastMs) : lastMs
    state.effectiveMs = Math.max(cost, 1) > this.units ? Infinity : SLOT_WAIT_MS
    state.retryAfterMs = admitted ? 0 : state.effectiveMs
    state.delayMs = 0
  }

  commit(state: KeyState, now: number, cost: number, claim?: Claim): void {
    this.#replace(state, now, slotsOf(cost, claim), true)
  }

  settle(state: KeyState, now: number, { delta, claim }: Correction): void {
    this.#show(state, now, this.#replace(state, now, slotsOf(delta, claim), delta > 0))
  }

  renew(state: KeyState, now: number, claims: readonly Claim[]): void {
    this.#show(state, now, this.#replace(state, now, claims.map(slotOf), true))
  }

  /** Takes slots out of those in use at `now`, and holds them anew. */
  #replace(state: KeyState, now: number, slots: readonly number[], isHeld: boolean): Held {
    state.held ??= new Held(0)
    const { held } = state
    held.dropEnded(now)
    held.holdAsOf(now)
    held.take(slots)
    if (isHeld) for (const slot of new Set(slots)) held.add(now, slot, this.windowMs)
    return held
  }

  #show(state: KeyState, now: number, held: Held): void {
    state.remaining = Math.max(0, this.units - held.length)
    state.excess = Math.max(0, held.length - this.units)
    state.resetMs = held.lastEnd(now) - now
  }
}

/** The slot whose charge changes by so many units, if it does. */
function slotsOf(units: number, claim: Claim | undefined): number[] {
  return units === 0 || claim === undefined ? [] : [slotOf(claim)]
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
  lua: async () => (await import('./concurrency.lua.ts')).concurrencyLua,
}
