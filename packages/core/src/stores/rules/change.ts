import { type CompiledLimit, KeyState } from '../../algorithms/algorithm.ts'
import type { Change, GrantResult, Raise } from '../store.ts'
import { keepMsAt, keepMsOf, renewOne, settleOne } from './decide-all.ts'
import { unended, withGrant, withOverride, withTerms } from './own-terms.ts'
import { renewalsOf } from './slots.ts'

/** A key in the keyspace of one policy. */
export interface ChangedKey {
  /** The number of the keyspace, from 0; that of the ban is the last one. */
  readonly policy: number
  readonly key: string
  /** The slots that it is about, if it is about some. */
  readonly slots?: readonly number[]
  readonly owner?: number | undefined
}

/** The states that a change concerns. */
export interface ChangedStates {
  /** @throws if the store holds something else under the key */
  load(policy: number, key: string): KeyState
  /**
   * @param keepMs how long the state must be kept, ms; 0: it is that of a key never seen
   * @param limit what has counted in the state; undefined: its count is unchanged, or ended by the change
   */
  keep(policy: number, key: string, state: KeyState, keepMs: number, limit?: CompiledLimit): void
}

/**
 * The keys whose states a change needs.
 *
 * @param count how many keyspaces the ledger has, that of the ban included
 */
export function keysOf(change: Change, count: number): ChangedKey[] {
  switch (change.kind) {
    case 'settle':
      return change.charges.map(({ key, slot, owner }, policy) => {
        return { policy, key, slots: slot === undefined ? [] : [slot], owner }
      })
    case 'renew':
      return renewalsOf(change.requests)
    case 'block':
    case 'reset':
      return Array.from({ length: count }, (_, policy) => ({ policy, key: change.key }))
    case 'override':
    case 'grant':
      return [change]
  }
}

/** The keys of a change, whatever the policy, some of them several times. */
export function clientsOf(change: Change): string[] {
  if ('key' in change) return [change.key]
  const charges = change.kind === 'settle' ? change.charges : change.requests.flat()
  return charges.map(({ key }) => key)
}

/**
 * Makes a change to the states that it concerns.
 *
 * @param count how many keyspaces the ledger has, that of the ban included
 * @param raises gets the charges that a settlement has raised: tell `raised` of `Ledger.change` once they are kept
 * @returns what became of a top-up; undefined for any other change
 */
export function applyChange(
  change: Change,
  states: ChangedStates,
  count: number,
  now: number,
  raises?: Raise[],
): GrantResult | undefined {
  switch (change.kind) {
    case 'settle': {
      const { charges, chargedAt = now } = change
      for (const [policy, charge] of charges.entries()) {
        const { key, limit } = charge
        const state = states.load(policy, key)
        const keepMs = settleOne(state, charge, now, chargedAt, raises, policy)
        if (keepMs !== undefined) states.keep(policy, key, state, keepMs, limit)
      }
      return undefined
    }
    case 'renew':
      for (const renewal of renewalsOf(change.requests)) {
        const { policy, key, limit } = renewal
        const state = readable(states, policy, key)
        if (state === undefined || !renewOne(state, renewal, now)) continue
        states.keep(policy, key, state, keepMsOf(state, limit, now), limit)
      }
      return undefined
    case 'block':
    case 'reset':
      for (let policy = 0; policy < count; policy += 1) {
        const { key } = change
        const durationMs = change.kind === 'block' ? change.durationMs : 0
        const state = new KeyState()
        state.terms = unended(readable(states, policy, key)?.terms, now)
        if (durationMs > 0) state.blockedUntil = now + durationMs
        states.keep(policy, key, state, withTerms(durationMs, state, now))
      }
      return undefined
    default:
      return applyToTerms(change, states, now)
  }
}

/** Changes what a client has of its own. */
function applyToTerms(
  change: Extract<Change, { policy: number }>,
  states: ChangedStates,
  now: number,
): GrantResult | undefined {
  const { policy, key, limit } = change
  const state = states.load(policy, key)
  if (change.kind === 'override') {
    state.terms = withOverride(state.terms, change.override, now)
  } else {
    const terms = withGrant(state, limit, change.grant, now)
    if (typeof terms === 'string') return terms
    state.terms = terms
  }
  // A count or block that may have ended is kept all the same: a clock that steps back makes it apply again.
  states.keep(policy, key, state, Math.max(keepMsAt(state, limit, now), isUnused(state) ? 0 : 1))
  return change.kind === 'grant' ? 'granted' : undefined
}

/** Whether a state has counted nothing, and blocks nothing. */
export function isUnused({ a, b, c, blockedUntil, log, held }: KeyState): boolean {
  const isEmpty = (log ?? held) === undefined
  return a === 0 && b === 0 && c === 0 && blockedUntil === 0 && isEmpty
}

function readable(states: ChangedStates, policy: number, key: string): KeyState | undefined {
  try {
    return states.load(policy, key)
  } catch {
    return undefined
  }
}
