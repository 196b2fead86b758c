import { type CompiledLimit, KeyState, refuseFor } from '../../algorithms/algorithm.ts'
import type { Charge, ChargeIncrease } from '../store.ts'
import { applyOwn, blockedMsOf } from './own-terms.ts'
import type { Renewal } from './slots.ts'

// The rules of every store around a step. The same rules in Lua: stores/redis/decide.lua.ts.

/**
 * Decides a charge on the state of its key, in which it leaves the outcome and the state as it is
 * at `now`, not charged yet.
 */
export function decideOne(
  state: KeyState,
  { limit, claim }: Pick<Charge, 'limit' | 'claim'>,
  now: number,
  cost: number,
): void {
  if (state.terms === undefined) {
    limit.decide(state, now, cost, claim)
    return
  }
  const applied = applyOwn(state, limit, now)
  const blockedMs = blockedMsOf(state.terms, now)
  if (blockedMs > 0) {
    refuseFor(state, blockedMs)
    state.rebased = false
    state.counted = false
  } else applied.decide(state, now, cost, claim)
}

/**
 * Charges an admitted request; a limit that refuses nothing, only what it would admit. What is charged on a refusal,
 * `decideAll` has charged.
 *
 * @param cost units; 0 if the request is refused
 * @returns whether the store must keep the state: it was charged, or moved to a clock that has
 *   stepped back, which even a refusal does, so that no client stays locked out until that clock has
 *   caught up
 */
export function commitOne(
  state: KeyState,
  { limit, claim }: Charge,
  now: number,
  cost: number,
): boolean {
  if (limit.algorithm.chargedOn === 'refusal') return state.counted || state.rebased
  const charged = state.admitted ? cost : 0
  if (charged === 0 && !state.rebased) return false
  const applied = state.own ?? limit
  applied.commit(state, now, charged, claim)
  return true
}

/**
 * Decides all charges of a request on the states of their keys: if one is refused, all are, and
 * those that would have been admitted are shown as they are, uncharged. See `CompiledLimit.refuses`.
 *
 * @param isPeek whether nothing is to be charged
 * @param decided the states that have been decided elsewhere, as they are to be shown
 * @returns whether the request is admitted
 */
export function decideAll(
  states: readonly KeyState[],
  charges: readonly Charge[],
  now: number,
  isPeek = false,
  decided?: ReadonlySet<KeyState>,
): boolean {
  let admitted = true
  for (let i = 0; i < charges.length; i += 1) {
    const charge = charges[i] as Charge
    const state = states[i] as KeyState
    if (!decided?.has(state)) decideOne(state, charge, now, charge.cost)
    if (!state.admitted && charge.limit.refuses) admitted = false
  }
  if (admitted) return true
  showUncharged(states, charges, now, decided)
  if (!isPeek) chargeRefusal(states, charges, now)
  return false
}

/**
 * Charges what counts refusals, if a quota of its key refuses: what refuses one client never counts for another. A
 * block is no refusal of a quota.
 */
function chargeRefusal(states: readonly KeyState[], charges: readonly Charge[], now: number): void {
  const last = charges.length - 1
  const { key, limit, cost } = charges[last] as Charge
  const counting = states[last] as KeyState
  if (!isOnRefusal(limit) || !counting.admitted) return
  const isRefused = charges.some((charge, i) => {
    const { admitted, terms } = states[i] as KeyState
    const refuses = !admitted && charge.limit.refuses
    return refuses && charge.key === key && blockedMsOf(terms, now) === 0
  })
  if (isRefused) limit.commit(counting, now, cost)
}

/**
 * The charges of a request, and behind them that of what counts the refusals of its first key.
 *
 * @param cost 0: it does not count this request, which is asked for again if it is refused
 * @param into an array that the same limit has filled before
 */
export function withRefusals(
  charges: readonly Charge[],
  limit: CompiledLimit,
  cost = 1,
  into: Charge[] = [],
): readonly Charge[] {
  for (let i = 0; i < charges.length; i += 1) into[i] = charges[i] as Charge
  const { key } = charges[0] as Charge
  const last = into[charges.length]
  if (last === undefined) into[charges.length] = { key, limit, cost }
  else {
    last.key = key
    last.cost = cost
  }
  return into
}

/** Whether a limit is charged when another one refuses: see `Algorithm.chargedOn`. */
export function isOnRefusal({ algorithm }: Pick<CompiledLimit, 'algorithm'>): boolean {
  return algorithm.chargedOn === 'refusal'
}

function showUncharged(
  states: readonly KeyState[],
  charges: readonly Charge[],
  now: number,
  decided: ReadonlySet<KeyState> | undefined,
): void {
  for (let i = 0; i < charges.length; i += 1) {
    const state = states[i] as KeyState
    if (!state.admitted || decided?.has(state)) continue
    const { rebased } = state
    const charge = charges[i] as Charge
    const limit = state.own ?? charge.limit
    limit.decide(state, now, 0, charge.claim)
    state.rebased = rebased
  }
}

/**
 * Corrects a charge, unless its key is blocked. See `CompiledLimit.settle`.
 *
 * @param increases gets how the charge at this `place` is raised, if it is: tell `onIncrease` of `Ledger.change` once it
 *   is kept
 * @returns how long the state must be kept, ms; 0: it is that of a key never seen. Undefined: it is unchanged
 */
export function settleOne(
  state: KeyState,
  { limit, cost: delta, claim }: Charge,
  now: number,
  chargedAt: number,
  increases?: ChargeIncrease[],
  place = 0,
): number | undefined {
  if (state.terms !== undefined && blockedMsOf(state.terms, now) > 0) return undefined
  const applied = state.terms === undefined ? limit : applyOwn(state, limit, now)
  // What is given back increases nothing, unless it ends a reservation that is gone.
  const mayIncrease = increases !== undefined && (delta > 0 || claim !== undefined)
  if (mayIncrease) applied.decide(state, now, 0)
  const before = state.remaining
  applied.settle(state, now, { delta, chargedAt, claim })
  const { remaining, excess, resetMs } = state
  if (mayIncrease && remaining < before)
    increases.push({ place, before, remaining, excess, resetMs, limit: applied.units, at: now })
  return keepMsOf(state, limit, now)
}

/**
 * How long a state that was charged or corrected at `now` must be kept, ms.
 *
 * @param limit the limit of the policy: a client's own one keeps a state for as long
 */
export function keepMsOf(state: KeyState, limit: CompiledLimit, now: number): number {
  return limit.keepMs === undefined ? state.resetMs : limit.keepMs(state, now)
}

/**
 * Holds what is claimed of a key anew, unless it is blocked. See `CompiledLimit.renew`.
 *
 * @returns whether the store must keep the state
 */
export function renewOne(state: KeyState, { limit, claims }: Renewal, now: number): boolean {
  if (blockedMsOf(state.terms, now) > 0) return false
  applyOwn(state, limit, now).renew?.(state, now, claims)
  return true
}

/**
 * The units that remain to a new key, in whole units. In a leaky bucket they differ from its limit.
 *
 * @param at ms on the store's clock
 */
export function fullOf(limit: CompiledLimit, at: number): number {
  const unused = new KeyState()
  limit.decide(unused, at, 0)
  return unused.remaining
}
