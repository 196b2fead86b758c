import type { Algorithm, CompiledLimit } from '../../algorithms/algorithm.ts'
import { ban, MAX_REFUSALS } from '../../algorithms/ban/ban.ts'
import { Calendar, type CalendarUnit } from '../../algorithms/calendar-window/calendar.ts'
import { calendarWindow } from '../../algorithms/calendar-window/calendar-window.ts'
import { TimeZone } from '../../algorithms/calendar-window/time-zone.ts'
import { concurrency } from '../../algorithms/concurrency/concurrency.ts'
import { algorithms } from '../../algorithms/index.ts'
import { MAX_EXACT } from '../../algorithms/ticks.ts'
import { MAX_DURATION_MS } from '../../options/duration.ts'
import { type KeyspaceName, parseBan, parseKeyspace } from './keyspace-name.ts'

/** A keyspace that was found in a store, and what its states can be read with. */
export interface InspectedKeyspace {
  readonly name: string
  readonly algorithm: Algorithm
  /** The name of the policy; of a ban, that of the limiter's first policy. */
  readonly policy: string
  readonly windowMs: number
  /** Whether it holds bans of a dry run, which refuse nothing. */
  readonly dryRun: boolean
  /** What reads its states. */
  readonly limit: CompiledLimit
  /**
   * What `limit` tells: everything, since it is the policy's own; only what is in use, since that is
   * the same for every limit; or only whether a key is blocked, since how fast a bucket drains depends on it.
   */
  readonly tells: 'everything' | 'use' | 'blocks'
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
  const { windowMs, limit, dryRun } = parts
  if (windowMs < 1 || limit < 1 || limit > MAX_REFUSALS) return undefined
  return {
    name,
    algorithm: ban,
    policy: quota.policy,
    windowMs,
    dryRun,
    limit: ban.compile({ limit, windowMs, bansMs: [1] }),
    tells: 'everything',
  }
}

function ofPolicy(name: string): InspectedKeyspace | undefined {
  const parts = parseKeyspace(name)
  const algorithm = parts && algorithmOf(parts)
  if (parts === undefined || algorithm === undefined) return undefined
  const { windowMs, policy, limit } = parts
  if (windowMs < 1 || windowMs > MAX_DURATION_MS || (limit ?? 0) > algorithm.maxLimit)
    return undefined
  const compiled = limitOf(algorithm, parts)
  return {
    name,
    algorithm,
    policy,
    windowMs,
    dryRun: false,
    limit: compiled,
    tells: tells(compiled, parts),
  }
}

function algorithmOf({ algorithm, scale }: KeyspaceName): Algorithm | undefined {
  if (/[a-z]+:/.test(scale)) return calendarWindow
  if (algorithm === concurrency.name) return concurrency
  return Object.values(algorithms).find(({ name }) => name === algorithm)
}

/** The limit of the policy. If that varies, the largest with which all is exact. */
function limitOf(
  algorithm: Algorithm,
  { windowMs, limit, scale, own }: KeyspaceName,
): CompiledLimit {
  const largest = Math.min(algorithm.maxLimit, Math.floor(MAX_EXACT / windowMs))
  return algorithm.compile({
    limit: limit ?? largest,
    windowMs,
    burst: limit === 0 ? 0 : own.burst,
    maxDelayMs: own.maxDelay,
    calendar: calendarOf(scale),
  })
}

function tells(
  compiled: CompiledLimit,
  { limit, scale }: KeyspaceName,
): InspectedKeyspace['tells'] {
  if (limit !== undefined) return compiled.scale === scale ? 'everything' : 'blocks'
  return scale === '' || calendarOf(scale) !== undefined ? 'use' : 'blocks'
}

/** Windows whose anchor varies are read with any: a window counts until its own end. */
function calendarOf(scale: string): Calendar | undefined {
  const [, unit, zone, anchor] = /^([a-z]+):(.+):(\d+|\*)$/.exec(scale) ?? []
  if (zone === undefined) return undefined
  const day = anchor === '*' ? 1 : Number(anchor)
  return new Calendar(unit as CalendarUnit, new TimeZone(zone), day, anchor === '*')
}
