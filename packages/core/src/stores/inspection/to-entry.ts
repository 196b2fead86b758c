import { type CompiledLimit, KeyState } from '../../algorithms/algorithm.ts'
import { ban } from '../../algorithms/ban/ban.ts'
import type { StoreEntry } from '../store.ts'
import type { InspectedKeyspace } from './inspected-keyspace.ts'

/** A key of an {@link InspectedKeyspace}. */
export interface FoundKey {
  readonly prefix: string
  readonly keyspace: InspectedKeyspace
  readonly key: string
  readonly isDigest: boolean
}

/**
 * What a key's state says, decided with a cost of 0 by the keyspace's limit.
 *
 * @param at ms, when it was read
 */
export function toEntry(found: FoundKey, state: KeyState, at: number): StoreEntry {
  const { prefix, key, isDigest, keyspace } = found
  const { name, algorithm, policy, windowMs, dryRun, limit, tells } = keyspace
  const blockedMs = Math.max(0, state.blockedUntil - at)
  const isBlocked = blockedMs > 0
  const isBanned = algorithm === ban && !state.admitted && !isBlocked
  return {
    prefix,
    keyspace: { name, algorithm },
    policy,
    windowMs,
    dryRun,
    key,
    isDigest,
    at,
    limit: tells === 'everything' ? limit.units : undefined,
    used: tells === 'blocks' || isBlocked ? undefined : wholeOf(limit, at) - state.remaining,
    remaining: tells === 'everything' ? state.remaining : undefined,
    resetMs: tells === 'blocks' && !isBlocked ? undefined : state.resetMs,
    blockedMs,
    bannedMs: isBanned ? state.retryAfterMs : 0,
  }
}

/** What remains to a key never seen: of a leaky bucket that is not its limit. */
function wholeOf(limit: CompiledLimit, at: number): number {
  const unused = new KeyState()
  limit.decide(unused, at, 0)
  return unused.remaining
}
