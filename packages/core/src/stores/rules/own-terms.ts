import {
  type CompiledLimit,
  formOf,
  KeyState,
  type Override,
  type OwnParams,
  type OwnTerms,
} from '../../algorithms/algorithm.ts'
import { madeOnce } from '../../made-once.ts'
import type { GivenGrant, GrantResult } from '../store.ts'

/** Top-ups that a key may have at the same time. */
export const MAX_GRANTS = 32
/** Limits of clients that are kept for each policy. Beyond, all start anew. */
const MAX_KEPT = 100

/** The limit of a client at one moment, in place of its policy's. */
export interface OwnLimit {
  /** Undefined: the policy's limit, with `granted` units more. */
  readonly override: OwnParams | undefined
  /** Units. */
  readonly granted: number
  /** When it changes, ms since the epoch; `Infinity`: not by itself. */
  readonly changesAt: number
}

/**
 * The limit at `now` in place of a policy's; undefined: the policy's. Where there is no window, there are no
 * top-ups: a client may have some from another version of the application.
 */
export function ownLimitAt(
  { override, grants }: OwnTerms,
  { grantEnd }: Pick<CompiledLimit, 'grantEnd'>,
  now: number,
): OwnLimit | undefined {
  const isOverridden = override !== undefined && override.until > now
  let changesAt = isOverridden ? override.until : Infinity
  let granted = 0
  for (const { until, units } of grants) {
    if (until <= now || grantEnd === undefined) continue
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
  return largest.get(formOf(limit, true)) ?? limit.units
}

/** A client's own limit. @param ofPolicy the limit of its policy, whose forms have the same one */
export function compileOwn(
  ofPolicy: CompiledLimit,
  { override, granted }: Omit<OwnLimit, 'changesAt'>,
): CompiledLimit {
  const limit = formOf(ofPolicy, true)
  const known = madeOnce(compiled, limit, () => new Map<string, CompiledLimit>())
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
 * Sets in the state which limit applies to its key at `now`, and returns it.
 *
 * @param limit the limit of the policy
 */
export function applyOwn(state: KeyState, limit: CompiledLimit, now: number): CompiledLimit {
  const { terms } = state
  const own = terms && ownLimitAt(terms, limit, now)
  state.own = own && compileOwn(limit, own)
  state.ownMs = own === undefined ? Infinity : own.changesAt - now
  return state.own ?? limit
}

/** When the last of the terms ends, ms since the epoch. */
export function endOf({ override, grants, blockedUntil }: OwnTerms): number {
  return grants.reduce(
    (end, { until }) => Math.max(end, until),
    Math.max(blockedUntil, override?.until ?? 0),
  )
}

/** How long a limit is kept that does not end by itself: a century, ms. */
const LONGEST_MS = 3_155_760_000_000

/** How long the terms must be kept, ms. */
export function keptMsOf(terms: OwnTerms, now: number): number {
  return Math.min(endOf(terms) - now, LONGEST_MS)
}

/** For how long a client is blocked at `now`, ms; 0: it is not. */
export function blockedMsOf(terms: OwnTerms | undefined, now: number): number {
  return terms === undefined ? 0 : Math.max(0, terms.blockedUntil - now)
}

const NOTHING: OwnTerms = { override: undefined, grants: [], blockedUntil: 0 }

/** The terms that have not ended at `now`; undefined: none. */
export function current(terms: OwnTerms | undefined, now: number): OwnTerms | undefined {
  if (terms === undefined) return undefined
  const { override, grants, blockedUntil } = terms
  const left = {
    override: override !== undefined && override.until > now ? override : undefined,
    grants: grants.filter(({ until }) => until > now),
    blockedUntil: blockedUntil > now ? blockedUntil : 0,
  }
  return endOf(left) > now ? left : undefined
}

/** The terms with another block. @param blockedUntil ms since the epoch; 0: without one */
export function withBlock(
  terms: OwnTerms | undefined,
  blockedUntil: number,
  now: number,
): OwnTerms | undefined {
  return current({ ...(terms ?? NOTHING), blockedUntil }, now)
}

/** The terms with another override. @param override undefined: without one */
export function withOverride(
  terms: OwnTerms | undefined,
  override: Override | undefined,
  now: number,
): OwnTerms | undefined {
  return current({ ...(terms ?? NOTHING), override }, now)
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
  const terms = current(state.terms, now) ?? NOTHING
  const { override, grants } = terms
  if (id !== '' && grants.some((each) => each.id === id)) return 'known'
  // Those without an id need not be told apart.
  const same = grants.find((each) => id === '' && each.id === '' && each.until === until)
  if (same === undefined && grants.length === MAX_GRANTS) return 'too many'
  const granted = grants.reduce((sum, each) => sum + each.units, units)
  if (granted > limit.algorithm.maxLimit - (override ?? limit.params).limit) return 'too much'
  const others = grants.filter((each) => each !== same)
  return { ...terms, grants: [...others, { id, until, units: units + (same?.units ?? 0) }] }
}

/** A copy that a step may change, except its log. */
function copyOf(state: KeyState): KeyState {
  return Object.assign(new KeyState(), state)
}
