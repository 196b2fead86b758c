import type {
  Algorithm,
  AlgorithmParams,
  CompiledLimit,
  KeyState,
  OwnTerms,
} from '../../algorithms/algorithm.ts'
import { ban } from '../../algorithms/ban/ban.ts'
import { Calendar, type CalendarUnit } from '../../algorithms/calendar-window/calendar.ts'
import { calendarWindow } from '../../algorithms/calendar-window/calendar-window.ts'
import { TimeZone } from '../../algorithms/calendar-window/time-zone.ts'
import { concurrency } from '../../algorithms/concurrency/concurrency.ts'
import { algorithms } from '../../algorithms/index.ts'
import { reserved } from '../../algorithms/reserved/reserved.ts'
import { MAX_EXACT } from '../../algorithms/ticks.ts'
import { MAX_DURATION_MS } from '../../options/duration.ts'
import { decideOne, fullOf } from '../rules/decide-all.ts'
import { blockedMsOf, ownLimitAt } from '../rules/own-terms.ts'
import { usedOf } from '../rules/used.ts'
import type { Keyspace, StoreEntry } from '../store.ts'
import { type KeyspaceName, parseBan, parseKeyspace } from './keyspace-name.ts'
import { parseParams } from './keyspace-text.ts'

/** A keyspace that was found in a store, and the limit by which its states are read. */
export class InspectedKeyspace {
  readonly name: string
  readonly algorithm: Algorithm
  /** The name of the policy; of a ban, that of the limiter's first policy. */
  readonly policy: string
  readonly windowMs: number
  /** Whether it holds bans of a dry run, which refuse nothing. */
  readonly dryRun: boolean
  /** Reads its states. Until its params are known, it is the largest limit with which all is exact. */
  limit: CompiledLimit
  /**
   * The facts that `limit` can read: everything, since it is the policy's own; only what is in use, since that is
   * the same for every limit; or only whether a key is blocked, since how fast a bucket drains depends on it.
   */
  tells: 'everything' | 'use' | 'blocks'
  readonly #params: Omit<AlgorithmParams, 'limit'>

  constructor(
    name: string,
    algorithm: Algorithm,
    { policy, dryRun }: { readonly policy: string; readonly dryRun: boolean },
    params: Omit<AlgorithmParams, 'limit'>,
  ) {
    const { windowMs } = params
    const multiplies = algorithm.maxLimit < MAX_EXACT
    const largest = multiplies
      ? Math.min(algorithm.maxLimit, Math.floor(MAX_EXACT / windowMs))
      : MAX_EXACT
    this.name = name
    this.algorithm = algorithm
    this.policy = policy
    this.windowMs = windowMs
    this.dryRun = dryRun
    this.#params = params
    this.limit = algorithm.compile({ ...params, limit: largest })
    this.tells = algorithm.drains ? 'blocks' : 'use'
  }

  /** Takes what its limits are made from, as it was kept beside its states. */
  learn(text: string): void {
    const params = parseParams(text)
    if (params === undefined || params.limit > this.algorithm.maxLimit) return
    this.limit = this.algorithm.compile({ ...this.#params, ...params })
    this.tells = 'everything'
  }
}

/** Undefined if the name is none that a limiter gives. */
export function inspectedKeyspace(name: string): InspectedKeyspace | undefined {
  try {
    return ofBan(name) ?? ofPolicy(name)
  } catch {
    // A time zone that does not exist, or not in this version of Node.
    return undefined
  }
}

function ofBan(name: string): InspectedKeyspace | undefined {
  const parts = parseBan(name)
  const quota = parts && parseKeyspace(parts.quota)
  if (parts === undefined || quota === undefined) return undefined
  const { windowMs, dryRun } = parts
  if (windowMs < 1) return undefined
  const { policy } = quota
  return new InspectedKeyspace(name, ban, { policy, dryRun }, { windowMs, bansMs: [1] })
}

function ofPolicy(name: string): InspectedKeyspace | undefined {
  const parts = parseKeyspace(name)
  const algorithm = parts && algorithmOf(parts)
  if (parts === undefined || algorithm === undefined) return undefined
  const { windowMs, policy } = parts
  if (windowMs < 1 !== (algorithm === concurrency) || windowMs > MAX_DURATION_MS) return undefined
  const calendar = calendarOf(parts)
  return new InspectedKeyspace(name, algorithm, { policy, dryRun: false }, { windowMs, calendar })
}

function algorithmOf(parts: KeyspaceName): Algorithm | undefined {
  const [, name] = /^reserved-(.+)$/.exec(parts.algorithm) ?? []
  if (name !== undefined) {
    const inner = algorithmOf({ ...parts, algorithm: name })
    return inner && !inner.keepsLog ? reserved(inner) : undefined
  }
  const { algorithm, calendar } = parts
  if (calendar !== undefined) return calendarWindow
  if (algorithm === concurrency.name) return concurrency
  return Object.values(algorithms).find(({ name }) => name === algorithm)
}

/** Windows whose anchor varies are read with any: a window counts until its own end. */
function calendarOf({ calendar }: KeyspaceName): Calendar | undefined {
  const [, unit, zone, anchor] = /^([a-z]+):(.+):(\d+|\*)$/.exec(calendar ?? '') ?? []
  if (zone === undefined) return undefined
  const day = anchor === '*' ? 1 : Number(anchor)
  return new Calendar(unit as CalendarUnit, new TimeZone(zone), day, anchor === '*')
}

/** The keyspace as a store opens it. */
export function foundKeyspace({ name, algorithm, tells, limit }: InspectedKeyspace): Keyspace {
  const params = tells === 'everything' ? limit.params : undefined
  return { name, algorithm, params, isFound: true }
}

/** A key of an {@link InspectedKeyspace}. */
export interface FoundKey {
  readonly prefix: string
  readonly keyspace: InspectedKeyspace
  readonly key: string
  readonly isDigest: boolean
}

/** Reads a key's state at `now`, as the store has kept it. */
export function entryOf(found: FoundKey, state: KeyState, now: number): StoreEntry {
  decideOne(state, found.keyspace, now, 0)
  return toEntry(found, state, now)
}

/**
 * Reads a key's state that was decided with a cost of 0 by the keyspace's limit.
 *
 * @param at ms, when it was read
 */
export function toEntry(found: FoundKey, state: KeyState, at: number): StoreEntry {
  const { prefix, key, isDigest, keyspace } = found
  const { policy, windowMs, dryRun } = keyspace
  const { terms, remaining, excess } = state
  const own = terms && ownLimitAt(terms, keyspace.limit, at)
  const limit = state.own ?? keyspace.limit
  // An override gives the state its own limit. Top-ups are added to a limit that may be unknown.
  const tells = own?.override === undefined ? keyspace.tells : 'everything'
  const blockedMs = blockedMsOf(terms, at)
  const isBlocked = blockedMs > 0
  const isBanned = keyspace.algorithm === ban && !state.admitted && !isBlocked
  return {
    prefix,
    keyspace: foundKeyspace(keyspace),
    policy,
    windowMs,
    dryRun,
    key,
    isDigest,
    at,
    limit: tells === 'everything' ? limit.units : undefined,
    used:
      tells === 'blocks' || isBlocked
        ? undefined
        : usedOf({ limit: fullOf(limit, at), remaining, excess }),
    remaining: tells === 'everything' ? state.remaining : undefined,
    resetMs: tells === 'blocks' && !isBlocked ? undefined : state.resetMs,
    override: own?.override && { limit: own.override.limit, until: endOfOverride(terms) },
    granted: own?.granted ?? 0,
    blockedMs,
    bannedMs: isBanned ? state.retryAfterMs : 0,
  }
}

function endOfOverride(terms: OwnTerms | undefined): number | undefined {
  const until = terms?.override?.until
  return until === Infinity ? undefined : until
}
