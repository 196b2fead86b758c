import { type CompiledLimit, KeyState, type OwnTerms } from '../../algorithms/algorithm.ts'
import type { Change, ChargeIncrease, GrantResult, Keyspace } from '../store.ts'
import { isOnRefusal, keepMsOf, renewOne, settleOne } from './decide-all.ts'
import { keptMsOf, withBlock, withGrant, withOverride } from './own-terms.ts'
import { renewalsOf } from './slots.ts'

/** A key in the keyspace of one policy. */
export interface ChangedKey {
  /** The number of the keyspace, from 0. */
  readonly policy: number
  readonly key: string
}

/** The states and records that a change concerns. */
export interface ChangedStates {
  /**
   * The state of a key, with its client's own record in `terms`.
   * @throws if the store holds something else under the key
   */
  load(policy: number, key: string): KeyState
  /**
   * Keeps the count of a state, but not its `terms`.
   *
   * @param keepMs how long, ms; 0: it is that of a key never seen
   * @param limit what has counted in the state; undefined: the change has ended its count
   */
  keep(policy: number, key: string, state: KeyState, keepMs: number, limit?: CompiledLimit): void
  /**
   * Returns a client's own limit, top-ups and block in a policy.
   * @throws if the store holds something else there
   */
  own(policy: number, key: string): OwnTerms | undefined
  /**
   * Keeps it.
   *
   * @param terms undefined: nothing
   * @param keepMs how long, ms
   */
  keepOwn(policy: number, key: string, terms: OwnTerms | undefined, keepMs: number): void
}

/** The keys whose states a change needs. */
export function keysOf(change: Change, keyspaces: readonly Keyspace[]): ChangedKey[] {
  switch (change.kind) {
    case 'settle':
      return change.charges.map(({ key }, policy) => ({ policy, key }))
    case 'renew':
      return renewalsOf(change.requests)
    case 'block':
    case 'reset':
      return keyspaces.map((_, policy) => ({ policy, key: change.key }))
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
 * @param increases gets the charges that a settlement has raised: tell `onIncrease` of `Ledger.change` once they are kept
 * @returns what became of a top-up; undefined for any other change
 */
export function applyChange(
  change: Change,
  states: ChangedStates,
  keyspaces: readonly Keyspace[],
  now: number,
  increases?: ChargeIncrease[],
): GrantResult | undefined {
  switch (change.kind) {
    case 'settle': {
      const { charges, chargedAt = now } = change
      for (const [policy, charge] of charges.entries()) {
        const { key, limit } = charge
        const state = states.load(policy, key)
        const keepMs = settleOne(state, charge, now, chargedAt, increases, policy)
        if (keepMs !== undefined) states.keep(policy, key, state, keepMs, limit)
      }
      return undefined
    }
    case 'renew':
      for (const renewal of renewalsOf(change.requests)) {
        const { policy, key, limit } = renewal
        const state = readable(() => states.load(policy, key))
        if (state === undefined || !renewOne(state, renewal, now)) continue
        states.keep(policy, key, state, keepMsOf(state, limit, now), limit)
      }
      return undefined
    case 'block':
    case 'reset': {
      const until = change.kind === 'block' ? now + change.durationMs : 0
      for (const { policy, key } of keysOf(change, keyspaces)) {
        states.keep(policy, key, new KeyState(), 0)
        if (isOnRefusal(keyspaces[policy] as Keyspace)) continue
        const terms = withBlock(
          readable(() => states.own(policy, key)),
          until,
          now,
        )
        keepOwn(states, { policy, key }, terms, now)
      }
      return undefined
    }
    case 'override': {
      const { policy, key, override } = change
      keepOwn(states, change, withOverride(states.own(policy, key), override, now), now)
      return undefined
    }
    case 'grant': {
      const { policy, key, limit, grant } = change
      const terms = withGrant(states.load(policy, key), limit, grant, now)
      if (typeof terms === 'string') return terms
      keepOwn(states, change, terms, now)
      return 'granted'
    }
  }
}

function keepOwn(
  states: ChangedStates,
  { policy, key }: ChangedKey,
  terms: OwnTerms | undefined,
  now: number,
): void {
  states.keepOwn(policy, key, terms, terms === undefined ? 0 : keptMsOf(terms, now))
}

/** A key that holds something else is ended, or left as it is. */
function readable<T>(load: () => T): T | undefined {
  try {
    return load()
  } catch {
    return undefined
  }
}
