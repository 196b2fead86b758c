import type { StoreEntry } from '@sluice/core'

/** How near a client is to its limit: of an `unused` quota nothing is used, of an `exhausted` one nothing remains. */
export type Standing = 'blocked' | 'banned' | 'exhausted' | 'counting' | 'unused' | 'unknown'

/** An entry of a store as JSON has it. Times are ms, from `at` on. */
export interface EntryRecord extends Omit<StoreEntry, 'keyspace'> {
  /** The name of the keyspace. */
  readonly keyspace: string
  readonly algorithm: string
  readonly standing: Standing
  /** The share that is used, 0 … 1; undefined if the limit is unknown. */
  readonly share: number | undefined
}

export function toRecord(entry: StoreEntry): EntryRecord {
  const { name, algorithm } = entry.keyspace
  return {
    ...entry,
    keyspace: name,
    algorithm: algorithm.name,
    standing: standingOf(entry),
    share: shareOf(entry),
  }
}

/** Tells entries apart. */
export function idOf({
  prefix,
  key,
  keyspace,
}: Pick<EntryRecord, 'prefix' | 'key' | 'keyspace'>): string {
  return `${prefix}\n${key}\n${keyspace}`
}

type Numbers = Omit<StoreEntry, 'keyspace'>

function standingOf({ blockedMs, bannedMs, used, remaining }: Numbers): Standing {
  if (blockedMs > 0) return 'blocked'
  if (bannedMs > 0) return 'banned'
  if (remaining === 0) return 'exhausted'
  if (used === undefined) return 'unknown'
  return used === 0 ? 'unused' : 'counting'
}

function shareOf({ blockedMs, bannedMs, used, remaining }: Numbers): number | undefined {
  if (blockedMs > 0 || bannedMs > 0) return 1
  if (used === undefined || remaining === undefined) return undefined
  // Of a limit of 0 nothing is left either.
  return remaining === 0 ? 1 : used / (used + remaining)
}
