import type { CompiledLimit } from '../algorithms/algorithm.ts'
import { ban, MAX_BANS, MAX_REFUSALS } from '../algorithms/ban/ban.ts'
import { checkInteger, checkObject, typeError } from '../options/checks.ts'
import { type Duration, parseDuration } from '../options/duration.ts'
import { checkKnown } from '../options/known.ts'
import { warnOfSeconds } from '../options/seconds.ts'
import { formatBan } from '../stores/inspection/keyspace-name.ts'
import type { Keyspace } from '../stores/store.ts'

/** When a client is banned, and for how long. */
export interface BanOptions {
  /** The number of refusals that lead to a ban: an integer, 1 … 100. */
  readonly after: number
  /** The window in which they are counted, and how long bans are remembered. */
  readonly within: Duration
  /** How long each ban lasts, 1 … 10 durations. The last one repeats. */
  readonly for: readonly Duration[]
}

/** The quota whose clients are banned: for a limiter and all of its routes it is the same. */
export interface BannedQuota {
  /** Namespace of the limiter's keys. */
  readonly prefix: string
  /** The keyspace of the limiter's first policy: limiters that share it share bans too. */
  readonly quota: string
}

const EXPECTED = "an object such as { after: 3, within: '1h', for: ['1m', '10m', '1d'] }"

/** The keyspace of a ban, whose limit is the same for all requests. */
export interface BanKeyspace extends Keyspace {
  readonly limit: CompiledLimit
}

/**
 * Where a limiter counts its bans, and what decides them: the last of its keyspaces.
 *
 * @param options the option `ban` as the user wrote it
 * @param dryRun refused requests continue: such bans are kept apart from real ones
 * @throws SluiceError
 */
export function compileBan(
  options: unknown,
  { prefix, quota }: BannedQuota,
  dryRun: boolean,
): BanKeyspace {
  const given = checkObject('ban', options, EXPECTED) as Partial<BanOptions>
  checkKnown('ban', given, ['after', 'within', 'for'])
  const limit = checkInteger('ban.after', given.after, 1, MAX_REFUSALS)
  const windowMs = checkDuration('ban.within', given.within)
  const bansMs = checkDurations(given.for)
  const name = formatBan({ dryRun, windowMs, quota })
  const params = { limit, windowMs, bansMs }
  return { name, algorithm: ban, prefix, limit: ban.compile(params), params }
}

function checkDurations(value: unknown): number[] {
  const fix = "Write for: ['1m', '10m', '1d']."
  if (Array.isArray(value) && value.length >= 1 && value.length <= MAX_BANS) {
    return value.map((each, i) => checkDuration(`ban.for[${i}]`, each, fix))
  }
  throw typeError('ban.for', value, `an array of 1 to ${MAX_BANS} durations`, fix)
}

function checkDuration(option: string, value: unknown, fix?: string): number {
  const ms = parseDuration(option, value, 1, undefined, fix)
  if (typeof value === 'number') warnOfSeconds(option, ms)
  return ms
}
