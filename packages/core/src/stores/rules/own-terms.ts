import {
  type AlgorithmParams,
  type CompiledLimit,
  KeyState,
  type Override,
  type OwnTerms,
} from '../../algorithms/algorithm.ts'
import type { GivenGrant, GrantResult } from '../store.ts'

/** Top-ups that a key may have at the same time. */
export const MAX_GRANTS = 32
/** Limits of clients that are kept for each policy. Beyond, all start anew. */
const MAX_KEPT = 100

/** What a client's own limit is made of, besides what it shares with that of its policy. */
export type OwnParams = Pick<AlgorithmParams, 'limit' | 'burst' | 'maxDelayMs'>

/** What applies to a client at one moment in place of its policy's limit. */
export interface OwnLimit {
  /** Undefined: the policy's limit, with `granted` units more. */
  readonly override: OwnParams | undefined
  /** Units. */
  readonly granted: number
  /** When it changes, ms since the epoch; `Infinity`: not by itself. */
  readonly changesAt: number
}

/** What of the terms applies at `now`; undefined: nothing. */
export function ownLimitAt({ override, grants }: OwnTerms, now: number): OwnLimit | undefined {
  const isOverridden = override !== undefined && override.until > now
  let changesAt = isOverridden ? override.until : Infinity
  let granted = 0
  for (const { until, units } of grants) {
    if (until <= now) continue
    granted += units
    changesAt = Math.min(changesAt, until)
  }
  if (!isOverridden && granted === 0) return undefined
  return { override: isOverridden ? override : undefined, granted, changesAt }
}

const compiled = new WeakMap<CompiledLimit, Map<string, CompiledLimit>>()
/** The largest own limits that this process has seen of clients, by the limits of their policies, units. */
const largest = new WeakMap<CompiledLimit, number>()

/** The most units that a client of a policy has, as far as this process knows. */
export function mostUnits(limit: CompiledLimit): number {
  return largest.get(limit) ?? limit.units
}

/** A client's own limit. @param limit the limit of its policy */
export function compileOwn(
  limit: CompiledLimit,
  { override, granted }: Omit<OwnLimit, 'changesAt'>,
): CompiledLimit {
  let known = compiled.get(limit)
  if (known === undefined) {
    known = new Map()
    compiled.set(limit, known)
  }
  const id = `${override?.limit} ${override?.burst} ${override?.maxDelayMs} ${granted}`
  let own = known.get(id)
  if (own === undefined) {
    const { algorithm, params } = limit
    const base = override === undefined ? params : { ...params, ...paramsOf(override) }
    const units = Math.min(algorithm.maxLimit, base.limit + granted)
    own = algorithm.compile({ ...base, limit: units })
    if (known.size === MAX_KEPT) known.clear()
    known.set(id, own)
    largest.set(limit, Math.max(mostUnits(limit), own.units))
  }
  return own
}

function paramsOf({ limit, burst, maxDelayMs }: OwnParams): OwnParams {
  return { limit, burst, maxDelayMs }
}

/**
 * Sets in the state which limit applies to its key at `now`, and returns it. Once all of the terms have ended,
 * the next write of the state is without them: before it, a clock that steps back makes them apply again.
 *
 * @param limit the limit of the policy
 */
export function applyOwn(state: KeyState, limit: CompiledLimit, now: number): CompiledLimit {
  const { terms } = state
  const own = terms && ownLimitAt(terms, now)
  if (own === undefined) state.terms = undefined
  state.own = own && compileOwn(limit, own)
  state.ownMs = own === undefined ? Infinity : own.changesAt - now
  return state.own ?? limit
}

/** When the last of the terms ends, ms since the epoch. */
export function endOf({ override, grants }: OwnTerms): number {
  return grants.reduce((end, { until }) => Math.max(end, until), override?.until ?? 0)
}

/** The terms that a write keeps, which changes none: all, until the last has ended. */
export function unended(terms: OwnTerms | undefined, now: number): OwnTerms | undefined {
  return terms !== undefined && endOf(terms) > now ? terms : undefined
}

/** How long a state is kept whose client has a limit of its own until that is ended: a century, ms. */
const LONGEST_MS = 3_155_760_000_000

/** How long a state must be kept, ms, whose count must be kept for so long. */
export function withTerms(countKeptMs: number, { terms }: KeyState, now: number): number {
  if (terms === undefined) return countKeptMs
  return Math.min(Math.max(countKeptMs, endOf(terms) - now), LONGEST_MS)
}

/** The terms without what has ended at `now`; undefined: nothing is left. */
export function current(terms: OwnTerms | undefined, now: number): OwnTerms | undefined {
  const override = terms?.override
  const isOverridden = override !== undefined && override.until > now
  const grants = terms?.grants.filter(({ until }) => until > now) ?? []
  return isOverridden || grants.length > 0
    ? { override: isOverridden ? override : undefined, grants }
    : undefined
}

/** The terms with another override. @param override undefined: without one */
export function withOverride(
  terms: OwnTerms | undefined,
  override: Override | undefined,
  now: number,
): OwnTerms | undefined {
  return current({ override, grants: terms?.grants ?? [] }, now)
}

/**
 * The terms of a key with a further top-up, if its id is not among them.
 *
 * @param state changed in nothing
 * @param limit the limit of the policy, which takes top-ups
 */
export function withGrant(
  state: KeyState,
  limit: CompiledLimit,
  grant: GivenGrant,
  now: number,
): OwnTerms | Exclude<GrantResult, 'granted'> {
  const { id, units, until = limit.grantEnd?.(copyOf(state), now) ?? now } = grant
  if (until <= now) return 'ended'
  const { override, grants } = current(state.terms, now) ?? { override: undefined, grants: [] }
  if (id !== '' && grants.some((each) => each.id === id)) return 'known'
  // Those without an id need not be told apart.
  const same = grants.find((each) => id === '' && each.id === '' && each.until === until)
  if (same === undefined && grants.length === MAX_GRANTS) return 'too many'
  const granted = grants.reduce((sum, each) => sum + each.units, units)
  if (granted > limit.algorithm.maxLimit - (override ?? limit.params).limit) return 'too much'
  const others = grants.filter((each) => each !== same)
  return { override, grants: [...others, { id, until, units: units + (same?.units ?? 0) }] }
}

/** A copy that a step may change, except its log. */
export function copyOf(state: KeyState): KeyState {
  return Object.assign(new KeyState(), state)
}
