import type { CompiledLimit } from '../../algorithms/algorithm.ts'
import { CALENDAR_UNITS } from '../../algorithms/calendar-window/calendar.ts'

/** The parts of a keyspace's name: all that its states depend on. Its limit is not among them. */
export interface KeyspaceName {
  readonly algorithm: string
  /** 0: it has none, as slots do. */
  readonly windowMs: number
  /** The name of the calendar, for a window of one: see `Calendar.name`. */
  readonly calendar?: string | undefined
  /** The name of the policy, 1 to 128 printable ASCII characters. */
  readonly policy: string
}

/**
 * `sliding-window:60000:default`, `concurrency:0:default`, `fixed-window:86400000/day:UTC:1:daily`
 *
 * Separates the keys of a policy from those of all others in a store: two limiters share a count if store, prefix, name,
 * algorithm and window are the same, whatever their limits. A window that is a function has a keyspace for each length.
 * Each slot says itself for how long it is held.
 */
export function formatKeyspace(policy: string, { algorithm, params }: CompiledLimit): string {
  const { windowMs, calendar } = params
  const window = calendar === undefined ? windowMs : `${windowMs}/${calendar.name}`
  return `${algorithm.name}:${algorithm.holdsSlots ? 0 : window}:${policy}`
}

const CALENDAR = `(?:${CALENDAR_UNITS.join('|')}):(?:[+-]\\d\\d:\\d\\d|[^:]+):(?:\\d+|\\*)`
const NAME = new RegExp(`^([a-z-]+):(\\d+)(?:/(${CALENDAR}))?:([\\x20-\\x7e]{1,128})$`)

/** Reads the text of {@link formatKeyspace}; undefined for any other text. */
export function parseKeyspace(text: string): KeyspaceName | undefined {
  const parts = NAME.exec(text)
  if (parts === null) return undefined
  const [, algorithm = '', windowMs, calendar, policy = ''] = parts
  return { algorithm, windowMs: Number(windowMs), calendar, policy }
}

/**
 * `ban:3600000:sliding-window:60000:default`
 *
 * @param ban `dryRun`: its bans refuse nothing; `quota`: the keyspace of the limiter's first policy
 */
export function formatBan(ban: NonNullable<ReturnType<typeof parseBan>>): string {
  const { dryRun, windowMs, quota } = ban
  return `${dryRun ? 'dry-' : ''}ban:${windowMs}:${quota}`
}

/** Reads the text of {@link formatBan}; undefined for any other text. */
export function parseBan(text: string) {
  const parts = /^(dry-)?ban:(\d+):(.+)$/.exec(text)
  if (parts === null) return undefined
  const [, dry, windowMs, quota] = parts
  return { dryRun: dry !== undefined, windowMs: Number(windowMs), quota: quota as string }
}

/** The name of the policy of a keyspace; its whole name, if no limiter has given it. */
export function policyName(keyspace: string): string {
  return parseKeyspace(keyspace)?.policy ?? keyspace
}

/**
 * Where what clients have of their own in a policy is kept, beside its keyspaces, whatever their windows and algorithms
 * are: `own:` and the name of the policy.
 */
export function ownKeyspace(name: string): string {
  return OWN_PREFIX + policyName(name)
}

/** Keys of clients' own limits, top-ups and blocks begin with it. */
export const OWN_PREFIX = 'own:'
