import { type CompiledLimit, KeyState } from '../../algorithms/algorithm.ts'
import type { Charge, ChargeIncrease } from '../store.ts'
import { applyOwn, blockedMsOf } from './own-terms.ts'
import type { Renewal } from './slots.ts'

// The rules of every store around a step. The same rules in Lua: stores/redis/decide.lua.ts.

/** The parts of a charge that a decision depends on. */
export interface Decidable {
  readonly key: string
  readonly limit: Pick<CompiledLimit, 'decide' | 'commit'>
  readonly cost: number
  readonly isUncounted?: true
  readonly dryRun?: boolean | undefined
  readonly owner?: number | undefined
}

/**
 * Decides a charge on the state of its key, in which it leaves the outcome and the state as it is
 * at `now`, not charged yet.
 */
export function decideOne(
  state: KeyState,
  { limit, owner }: Pick<Decidable, 'limit' | 'owner'>,
  now: number,
  cost: number,
): void {
  if (state.terms === undefined) {
    limit.decide(state, now, cost, owner)
    return
  }
  // Only states that a store has loaded have terms, for limits that were compiled.
  const applied = applyOwn(state, limit as CompiledLimit, now)
  const blockedMs = blockedMsOf(state.terms, now)
  if (blockedMs > 0) refuse(state, blockedMs)
  else applied.decide(state, now, cost, owner)
}

/**
 * Charges an admitted request: nothing in a dry run that would refuse.
 *
 * @param cost units; 0 if the request is refused
 * @returns whether the store must keep the state: it was charged, or moved to a clock that has
 *   stepped back, which even a refusal does, so that no client stays locked out until that clock has
 *   caught up
 */
export function commitOne(
  state: KeyState,
  { limit, slot, owner }: Charge,
  now: number,
  cost: number,
): boolean {
  const charged = state.admitted ? cost : 0
  if (charged === 0 && !state.rebased) return false
  const applied = state.own ?? limit
  applied.commit(state, now, charged, slot, owner)
  return true
}

/**
 * Decides all charges of a request on the states of their keys: if one is refused, all are, and
 * those that would have been admitted are shown as they are, uncharged. One of a dry run refuses no other. A ban counts the refusal of its
 * key by a quota: what refuses one client never bans another, and a block is none. Its state is to be kept if it is `counted` or `rebased`.
 *
 * @param ban the limit of the ban, and the state of the first charge's key
 * @param isPeek whether nothing is to be counted
 * @returns whether the request is admitted
 */
export function decideAll(
  states: readonly KeyState[],
  charges: readonly Decidable[],
  now: number,
  ban?: { readonly limit: CompiledLimit; readonly state: KeyState },
  isPeek = false,
): boolean {
  if (ban !== undefined) decideOne(ban.state, ban, now, 0)
  let admitted = ban === undefined || ban.state.admitted
  for (let i = 0; i < charges.length; i += 1) {
    const charge = charges[i] as Decidable
    const state = states[i] as KeyState
    decideOne(state, charge, now, charge.cost)
    if (!state.admitted && !charge.dryRun) admitted = false
  }
  if (admitted) return true
  showUncharged(states, charges, now)
  if (ban?.state.admitted && !isPeek) {
    const [{ key, isUncounted }] = charges as [Decidable]
    const isRefused = charges.some((charge, i) => {
      const { admitted, terms } = states[i] as KeyState
      const refuses = !admitted && !charge.dryRun && blockedMsOf(terms, now) === 0
      return refuses && charge.key === key
    })
    if (isRefused && !isUncounted) ban.limit.commit(ban.state, now, 1)
  }
  return false
}

/** The charges of a request, and behind them that of the ban: 1 if it counts the request when it is refused. */
export function withBan(
  charges: readonly Charge[],
  ban: CompiledLimit | undefined,
): readonly Charge[] {
  if (ban === undefined) return charges
  const [{ key, isUncounted }] = charges as readonly [Charge]
  return [...charges, { key, limit: ban, cost: isUncounted ? 0 : 1 }]
}

function showUncharged(
  states: readonly KeyState[],
  charges: readonly Decidable[],
  now: number,
): void {
  for (let i = 0; i < charges.length; i += 1) {
    const state = states[i] as KeyState
    if (!state.admitted) continue
    const { rebased } = state
    const charge = charges[i] as Decidable
    const limit = state.own ?? charge.limit
    limit.decide(state, now, 0, charge.owner)
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
  { limit, cost, slot, reserved, remaining: left, confirmed }: Charge,
  now: number,
  chargedAt: number,
  increases?: ChargeIncrease[],
  place = 0,
): number | undefined {
  if (state.terms !== undefined && blockedMsOf(state.terms, now) > 0) return undefined
  const applied = state.terms === undefined ? limit : applyOwn(state, limit, now)
  const mayIncrease = increases !== undefined && (cost > 0 || reserved !== undefined)
  if (mayIncrease) applied.decide(state, now, 0)
  const before = state.remaining
  applied.settle(state, now, cost, chargedAt, slot, reserved, left, confirmed)
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
 * Holds slots of a key anew, unless it is blocked. See `CompiledLimit.renew`.
 *
 * @returns whether the store must keep the state
 */
export function renewOne(state: KeyState, { limit, slots }: Renewal, now: number): boolean {
  if (blockedMsOf(state.terms, now) > 0) return false
  applyOwn(state, limit, now).renew?.(state, now, slots)
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

function refuse(state: KeyState, blockedMs: number): void {
  state.admitted = false
  state.rebased = false
  state.counted = false
  state.remaining = 0
  state.excess = 0
  state.resetMs = blockedMs
  state.retryAfterMs = blockedMs
  state.effectiveMs = blockedMs
  state.delayMs = 0
}
