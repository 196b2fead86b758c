import type { Outcome } from '../algorithms/algorithm.ts'
import { SLOT_WAIT_MS } from '../algorithms/held/held.ts'
import type { Unit } from '../options/unit.ts'
import type { Charge, DecisionSource, Origin, StoreResult } from '../stores/store.ts'
import type { Policy } from './policy.ts'

/** The result of one policy for a request. Times are integer ms from the decision. */
export interface PolicyDecision {
  /** The name of the policy. */
  readonly name: string
  /** The unit it counts: the option `unit`, or `'concurrent-requests'`. */
  readonly unit: Unit
  /**
   * The key that it was charged to; `block` and `reset` accept it unchanged. It identifies the client:
   * do not send it in responses.
   */
  readonly key: string
  /** The length of the window, ms. */
  readonly windowMs: number
  /** False if this policy refuses, regardless of the others. */
  readonly allowed: boolean
  /**
   * True if it is a dry run (the policy's `dryRun` or `enforce`): the request is decided without
   * this policy. If `allowed` is false, it would have refused, and was not charged.
   */
  readonly dryRun?: true | undefined
  /**
   * Units of the full quota (token bucket: its capacity), including the client's own limit and
   * top-ups.
   */
  readonly limit: number
  /** Whole units that would still be admitted now. */
  readonly remaining: number
  /**
   * Units in use beyond the limit, because of a debt or a lowered limit. Left out if there are
   * none.
   */
  readonly excess?: number | undefined
  /** The time until the quota is full again (fixed window: until the window ends), ms. */
  readonly resetMs: number
  /**
   * 0 when allowed; otherwise the shortest sufficient wait, ms. `Infinity` if no wait is enough.
   */
  readonly retryAfterMs: number
  /** Leaky bucket: how long the request must wait for its turn, ms; otherwise 0. */
  readonly delayMs: number
  /**
   * The effective window of the header fields, `t` (draft-ietf-httpapi-ratelimit-headers-11), ms:
   * if refused, the wait; if nothing is left, the time until one unit is; otherwise the time until
   * the window rolls over, the oldest entry expires, or a bucket has refilled as much as is left.
   */
  readonly effectiveMs: number
  /** The source for this policy: a cluster may decide policies separately. */
  readonly source: DecisionSource
  /** The time of the decision: ms on the clock of the store, or of its node that has the key. */
  readonly at: number
}

/** The ban of a client (the option `ban`). */
export interface BanDecision {
  /** True only for the refusal that starts the ban. */
  readonly began: boolean
  /** The time until the ban ends, ms from the decision. */
  readonly endsMs: number
}

/** A limiter's decision about a request. Times are integer ms from the decision. */
export interface Decision {
  /** Whether the request is admitted. A refusal is a value, never a rejected promise. */
  readonly allowed: boolean
  /**
   * Units of the binding policy's full quota. For a refusal, the binding policy is the one with the
   * longest wait; otherwise the one with the least remaining. If all policies are dry runs, there
   * is none: `Infinity`.
   */
  readonly limit: number
  /** Whole units that the binding policy would still admit now. */
  readonly remaining: number
  /** The time until the binding policy's quota is full again (fixed window: until the window ends), ms. */
  readonly resetMs: number
  /**
   * 0 when allowed; otherwise the shortest wait, ms, after which the same cost would be admitted if
   * no other requests came. `Infinity` if it can never be admitted.
   */
  readonly retryAfterMs: number
  /** Leaky bucket: how long the request must wait before it continues, ms; otherwise 0. */
  readonly delayMs: number
  /** The result of each policy, in their order. Empty if no policy decided. */
  readonly policies: readonly PolicyDecision[]
  /**
   * Set while the option `ban` bans the client. Then every policy of its key refuses, with nothing
   * left.
   */
  readonly ban?: BanDecision | undefined
  /**
   * The source of the decision: `'store'`; `'cache'`, a remembered refusal; `'lease'`, units that
   * this process took from the store in advance; `'local'`, this process while the store fails;
   * `'allow'` or `'deny'`, a list or the option `onStoreError`. If policies were decided
   * separately: for a refusal, the source that refused; otherwise `'store'`, unless some were
   * decided without the store.
   */
  readonly source: DecisionSource
  /**
   * The time of the decision, ms on the store's clock: the latest, if policies were decided
   * separately; for a lease, when the store charged it.
   */
  readonly at: number
}

/** The wait of a request that was refused because the store failed: probes come every 2 s. */
const RETRY_STORE_MS = 5000

/** A decision that no policy made: of a client on a list, or in place of a store that fails. */
export function decisionWithoutPolicy(
  allowed: boolean,
  at: number,
  retryAfterMs: number,
): Decision {
  return {
    allowed,
    limit: allowed ? Infinity : 0,
    remaining: allowed ? Infinity : 0,
    resetMs: 0,
    retryAfterMs,
    delayMs: 0,
    policies: [],
    ban: undefined,
    source: allowed ? 'allow' : 'deny',
    at,
  }
}

/**
 * The decision about a client that is blocked for so long, without a call of the store: every policy stands as if its
 * key were blocked.
 * @param blockedMs how long it is blocked, ms
 */
export function blockedDecision(
  blockedMs: number,
  { at, source }: Origin,
  policies: readonly Policy[],
  charges: readonly Charge[],
): Decision {
  const outcome = {
    admitted: false,
    remaining: 0,
    resetMs: blockedMs,
    retryAfterMs: blockedMs,
    effectiveMs: blockedMs,
    delayMs: 0,
  }
  const outcomes = policies.map(() => outcome)
  const admitted = !charges.some(({ limit }) => limit.refuses)
  return toDecision({ admitted, at, source, outcomes }, policies, charges)
}

/**
 * Puts what the store said into the limiter's words.
 * @param charges one for each policy, in the order of the result's outcomes, which may have that of a ban behind them
 */
export function toDecision(
  result: StoreResult,
  policies: readonly Policy[],
  charges: readonly Charge[],
): Decision {
  if (result.outcomes.length === 0) {
    return decisionWithoutPolicy(result.admitted, result.at, result.admitted ? 0 : RETRY_STORE_MS)
  }
  // Behind the policies is what counts refusals.
  const counting = result.outcomes[policies.length]
  const ban = counting && toBan(counting)
  const first = one(result, policies, charges, 0, ban)
  let { delayMs } = first
  // An array that starts with its element has room for one; an empty one takes room for 17.
  const all = [first]
  for (let i = 1; i < policies.length; i += 1) {
    const other = one(result, policies, charges, i, ban)
    all.push(other)
    if (other.delayMs > delayMs) delayMs = other.delayMs
  }
  const { admitted: allowed, source, at } = result
  const isAlone = all.length === 1 && first.dryRun === undefined
  const binding = isAlone ? first : (bindingOf({ policies: all, allowed }) ?? NOTHING_BINDS)
  const { limit, remaining, resetMs, retryAfterMs } = binding
  return {
    allowed,
    limit,
    remaining,
    resetMs,
    retryAfterMs,
    delayMs,
    policies: all,
    ban,
    source,
    at,
  }
}

/** The numbers of a request that only dry runs have decided. */
const NOTHING_BINDS = { limit: Infinity, remaining: Infinity, resetMs: 0, retryAfterMs: 0 }

function toBan({ admitted, counted, retryAfterMs }: Outcome): BanDecision | undefined {
  return admitted ? undefined : { began: counted === true, endsMs: retryAfterMs }
}

/** How a policy stands whose key is banned: as if it refused until the ban ends, or for longer. */
function banned(outcome: Outcome, { endsMs }: BanDecision): Outcome {
  const { admitted, retryAfterMs, resetMs } = outcome
  const waitMs = Math.max(retryAfterMs, endsMs)
  return {
    admitted: false,
    remaining: 0,
    resetMs: Math.max(admitted ? 0 : resetMs, endsMs),
    retryAfterMs: waitMs,
    effectiveMs: waitMs,
    delayMs: 0,
  }
}

function one(
  result: StoreResult,
  policies: readonly Policy[],
  charges: readonly Charge[],
  i: number,
  ban: BanDecision | undefined,
): PolicyDecision {
  const { key, limit } = charges[i] as Charge
  const uncovered = result.outcomes[i] as Outcome
  const { units, windowMs } = uncovered.own ?? limit
  const isBanned = ban !== undefined && key === charges[0]?.key
  const outcome = isBanned ? banned(uncovered, ban) : uncovered
  const { at, source } = result.origins?.[i] ?? result
  const { name, unit } = policies[i] as Policy
  const refuses = limit.refuses || isBanned
  const decision: PolicyDecision = {
    name,
    unit,
    key,
    windowMs,
    allowed: outcome.admitted,
    limit: units,
    remaining: small(outcome.remaining),
    resetMs: small(outcome.resetMs),
    retryAfterMs: small(outcome.retryAfterMs),
    delayMs: result.admitted && refuses ? small(outcome.delayMs) : 0,
    effectiveMs: small(outcome.effectiveMs),
    source,
    at,
  }
  const { excess } = outcome
  const shown = excess ? { ...decision, excess } : decision
  return refuses ? shown : { ...shown, dryRun: true }
}

/**
 * The refusal of a request in place of an admission.
 * @param waitOf how long a policy refuses it, ms; 0: it does not
 */
export function asRefusal(
  decision: Decision,
  waitOf: (policy: PolicyDecision) => number,
): Decision {
  const policies = decision.policies.map((policy) => {
    const waitMs = waitOf(policy)
    const refusal = { allowed: false, delayMs: 0, retryAfterMs: waitMs, effectiveMs: waitMs }
    return waitMs === 0 ? policy : { ...policy, ...refusal }
  })
  const enforced = policies.filter(({ dryRun }) => !dryRun)
  const retryAfterMs = Math.max(0, ...enforced.map((policy) => policy.retryAfterMs))
  return { ...decision, allowed: false, delayMs: 0, retryAfterMs, policies }
}

/** The policy that `limit`, `remaining` and `resetMs` are from; undefined if no policy has decided the request. */
export function bindingOf({
  policies,
  allowed,
}: Pick<Decision, 'policies' | 'allowed'>): PolicyDecision | undefined {
  let binding: PolicyDecision | undefined
  for (const each of policies) {
    if (each.dryRun) continue
    if (binding === undefined || binds(each, binding, allowed)) binding = each
  }
  return binding
}

function binds(other: PolicyDecision, binding: PolicyDecision, allowed: boolean): boolean {
  if (!allowed) return other.retryAfterMs > binding.retryAfterMs
  if (other.remaining !== binding.remaining) return other.remaining < binding.remaining
  return other.resetMs > binding.resetMs
}

/**
 * The number as an integer of the machine where it fits: arithmetic leaves integers as
 * floating-point numbers, which an object keeps in a place of their own, 16 bytes each.
 */
function small(value: number): number {
  const integer = value | 0
  return integer === value ? integer : value
}

/** The number of the policy that refuses a request for longest; -1: none. */
export function refusingPolicy({ policies, retryAfterMs }: Decision): number {
  return policies.findIndex((each) => !each.dryRun && each.retryAfterMs === retryAfterMs)
}

/** The unit of policies that hold slots. */
const SLOTS = 'concurrent-requests'

/**
 * How long a refusal lasts for certain unless somebody gives something back, ms. Nobody knows when a slot is free, so
 * its wait is no bound.
 */
export function certainWaitMs({ policies }: Pick<Decision, 'policies'>): number {
  const boundOf = ({ unit, retryAfterMs, dryRun }: PolicyDecision) =>
    dryRun || (unit === SLOTS && retryAfterMs <= SLOT_WAIT_MS) ? 0 : retryAfterMs
  return Math.max(0, ...policies.map(boundOf))
}

/** Whether the policy admits nothing for a time that it knows. */
export function isUsedUp({ unit, remaining, dryRun }: PolicyDecision): boolean {
  return remaining === 0 && unit !== SLOTS && !dryRun
}
