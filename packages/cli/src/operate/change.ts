import type { InspectableStore, InspectOptions, StoreEntry } from '@sluice/core'
import { setLimit } from '@sluice/core/operator'
import { printable } from '@sluice/terminal/printable'
import { UsageError } from '@sluice/terminal/usage-error'
import { Reading } from './reading.ts'

/** A change of one client. */
export type Change =
  | { readonly action: 'reset' | 'unblock' }
  | { readonly action: 'block'; readonly durationMs: number }
  /** Units per window, and for how long: undefined: until it is ended. */
  | { readonly action: 'limit'; readonly units: number; readonly durationMs: number | undefined }
  | { readonly action: 'unlimit' }

/** A keyspace of a policy, in a namespace of a store, with a key that it has. */
export type FoundKeyspace = Pick<StoreEntry, 'prefix' | 'keyspace' | 'policy' | 'key'>

/** Which entries of a store to look at. */
export type EntryFilter = Pick<InspectOptions, 'prefix' | 'policy'>

/** The most keyspaces that are changed, more than any application has: further ones are not a limiter's. */
const MAX_KEYSPACES = 10_000

/**
 * The keyspaces in which a change of a client has to be made: reset where the client has a key; unblock where that is
 * blocked or banned; unlimit where it has a limit of its own; block and limit in every keyspace that has the key of
 * any client, since the client may have none yet.
 *
 * @param reading says how far it is
 * @throws UsageError also if the client has keys in shards alone, and `key` names none
 */
export async function keyspacesFor(
  store: InspectableStore,
  { action }: Change,
  key: string,
  filter: EntryFilter,
  reading: Reading = new Reading(),
): Promise<FoundKeyspace[]> {
  const found = new Map<string, FoundKeyspace>()
  const { onProgress } = reading
  const which = action === 'block' || action === 'limit' ? { onePerKeyspace: true } : { key }
  const wanted = { ...filter, ...which, onProgress }
  const inShards = new Set<string>()
  for await (const entry of store.inspect(wanted)) {
    if (action === 'unblock' && !isShut(entry)) continue
    if (action === 'unlimit' && entry.override === undefined) continue
    if (action === 'limit' && entry.keyspace.algorithm.name === 'ban') continue
    if ('key' in which && entry.key !== key) {
      inShards.add(entry.isDigest ? `{shard}${key}` : entry.key)
      continue
    }
    const { prefix, keyspace, policy } = entry
    found.set(`${prefix}\n${keyspace.name}`, { prefix, keyspace, policy, key: entry.key })
    if (found.size > MAX_KEYSPACES) {
      throw new UsageError(
        `more than ${MAX_KEYSPACES} keyspaces: narrow it with --prefix or --policy`,
      )
    }
  }
  if (found.size === 0 && inShards.size > 0) {
    const names = [...inShards].slice(0, 5).map((each) => `'${printable(each)}'`)
    throw new UsageError(`${printable(key)} has keys in a shard: write ${names.join(' or ')}`)
  }
  return [...found.values()]
}

/** Makes the change in these keyspaces. */
export async function apply(
  store: InspectableStore,
  change: Change,
  key: string,
  keyspaces: readonly FoundKeyspace[],
): Promise<void> {
  for (const each of keyspaces) {
    if (change.action === 'limit') {
      const { units, durationMs = Infinity } = change
      await setLimit(store, each, key, units, (store.clock ?? Date.now)() + durationMs)
      continue
    }
    if (change.action === 'unlimit') {
      await setLimit(store, each, key, undefined)
      continue
    }
    const ledger = store.open({ policies: [each.keyspace] }, each.prefix)
    const { durationMs } = change as { durationMs?: number }
    await ledger.change(
      durationMs === undefined ? { kind: 'reset', key } : { kind: 'block', key, durationMs },
    )
  }
}

function isShut({ blockedMs, bannedMs }: StoreEntry): boolean {
  return blockedMs > 0 || bannedMs > 0
}
