import type { InspectableStore, StoreEntry } from '@sluice/core'
import { type FoundKeyspace, knownKeyspaces, setLimit } from '@sluice/core/operator'
import { printable } from '@sluice/terminal/printable'
import { UsageError } from '@sluice/terminal/usage-error'
import { count, listed } from '@sluice/terminal/words'
import type { Change, EntryFilter, Made, Plan } from './change.ts'
import { inWords } from './change-words.ts'
import { nobodyCounted } from './client-stand.ts'
import { networksAround } from './networks.ts'
import { Reading } from './reading.ts'
import { StoreFailure } from './store-failure.ts'

/** Where a change of a client has to be made. */
export interface FoundKeyspaces {
  readonly keyspaces: readonly FoundKeyspace[]
  /** Whether there are keys in shards, of which `key` names none. */
  readonly mayBeInShard: boolean
}

/** The most keyspaces that are changed, more than any application has: further ones are not a limiter's. */
const MAX_KEYSPACES = 10_000

/**
 * Plans to change a client.
 *
 * @param reading says how far it is
 * @throws UsageError also for a limit in several policies
 */
export async function clientPlan(
  store: InspectableStore,
  change: Change,
  key: string,
  filter: EntryFilter,
  reading: Reading = new Reading(),
): Promise<Plan> {
  const { prefix } = filter
  const found = await keyspacesFor(store, change, key, filter, reading)
  const { keyspaces } = found
  const policies = [...new Set(keyspaces.map(({ policy }) => printable(policy)))]
  if (change.action === 'limit' && policies.length > 1)
    throw new UsageError(`--policy: expected one of ${listed(policies)}, whose limits differ`)
  const keys = count(keyspaces.length, 'key')
  const shard = `keys are in shards here: if this client's are, write its shard, as top shows it: '${printable(`{shard}${key}`)}'`
  return {
    key,
    places: keyspaces.map(({ prefix, keyspace }) => ({ prefix, keyspace: keyspace.name })),
    what: `${inWords(change, printable(key))} in ${listed(policies)} (${keys}, prefix ${prefix})`,
    nothing: keyspaces.length > 0 ? '' : await nothingTo(store, change, key, filter),
    note: found.mayBeInShard ? shard : undefined,
    make: () => apply(store, change, key, keyspaces, prefix),
  }
}

/**
 * The keyspaces in which a change of a client has to be made: reset where the client has a key; unblock where that is
 * blocked or banned; unlimit where it has a limit of its own; block and limit in every keyspace that limiters use, since
 * the client may have no key yet.
 *
 * @throws UsageError also if the client has keys in shards alone, and `key` names none
 */
export async function keyspacesFor(
  store: InspectableStore,
  { action }: Change,
  key: string,
  filter: EntryFilter,
  { onProgress }: Reading = new Reading(),
): Promise<FoundKeyspaces> {
  if (action === 'block' || action === 'limit') {
    const { keyspaces, hasShards } = await knownKeyspaces(store, { ...filter, onProgress })
    const isWanted = ({ keyspace }: FoundKeyspace) =>
      action === 'block' || keyspace.algorithm.name !== 'ban'
    const mayBeInShard = hasShards && !key.startsWith('{')
    return { keyspaces: keyspaces.filter(isWanted), mayBeInShard }
  }
  const found = new Map<string, FoundKeyspace>()
  const inShards = new Set<string>()
  for await (const entry of store.inspect({ ...filter, key, onProgress })) {
    if (action === 'unblock' && !isShut(entry)) continue
    if (action === 'unlimit' && entry.override === undefined) continue
    if (entry.key !== key) {
      inShards.add(entry.isDigest ? `{shard}${key}` : entry.key)
      continue
    }
    found.set(idOf(entry), entry)
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
  return { keyspaces: [...found.values()], mayBeInShard: false }
}

async function nothingTo(
  store: InspectableStore,
  { action }: Change,
  key: string,
  filter: EntryFilter,
): Promise<string> {
  const name = printable(key)
  if (action === 'block' || action === 'limit')
    return `nothing to ${action} ${name} in: ${nobodyCounted(filter)}`
  const [around] = await networksAround(store, filter.prefix, key)
  const why = {
    unlimit: `nothing to end: ${name} has no limit of its own`,
    reset: `nothing to reset: ${name} has no key`,
    unblock: `nothing to unblock: ${name} is neither blocked nor banned`,
  }[action]
  const but = around === undefined ? '' : `, but it is in the blocked ${around.network}`
  return `${why} under the prefix ${filter.prefix}${but}`
}

async function apply(
  store: InspectableStore,
  change: Change,
  key: string,
  keyspaces: readonly FoundKeyspace[],
  prefix: string,
): Promise<Made> {
  for (const each of keyspaces) {
    if (change.action === 'limit') await setLimit(store, each, key, change.units, change.durationMs)
    else if (change.action === 'unlimit') await setLimit(store, each, key, undefined)
    else {
      const ledger = store.open([each.keyspace], each.prefix)
      const { durationMs } = change as { durationMs?: number }
      await ledger.change(
        durationMs === undefined ? { kind: 'reset', key } : { kind: 'block', key, durationMs },
      )
    }
  }
  const entries: StoreEntry[] = []
  for await (const entry of store.inspect({ prefix, key }))
    if (entry.key === key || entry.isDigest) entries.push(entry)
  const byId = new Map(entries.map((entry) => [idOf(entry), entry]))
  const changed = keyspaces.map((each) => [each, byId.get(idOf(each))] as const)
  const unchanged = changed.filter(([, entry]) => !isMade(change, entry))
  if (unchanged.length > 0) {
    const policies = new Set(unchanged.map(([{ policy }]) => printable(policy)))
    throw new StoreFailure(
      `${change.action} ${printable(key)}: the store does not show it in ${listed([...policies])}, although it has confirmed it`,
    )
  }
  const ends = changed.flatMap(([, entry]) => (entry && endOf(change, entry)) ?? [])
  return { until: ends.length === 0 ? undefined : Math.min(...ends), entries }
}

/** Whether the store shows a change. Meanwhile the client may have been counted again. */
function isMade(change: Change, entry: StoreEntry | undefined): boolean {
  switch (change.action) {
    case 'block':
      return entry !== undefined && entry.blockedMs > 0
    case 'limit':
      return entry?.override?.limit === change.units
    case 'unlimit':
      return entry?.override === undefined
    case 'reset':
    case 'unblock':
      return entry === undefined || entry.blockedMs === 0
  }
}

function endOf({ action }: Change, { at, blockedMs, override }: StoreEntry): number | undefined {
  if (action === 'block') return at + blockedMs
  return action === 'limit' ? override?.until : undefined
}

function idOf({ prefix, keyspace }: FoundKeyspace): string {
  return `${prefix}\n${keyspace.name}`
}

function isShut({ blockedMs, bannedMs }: StoreEntry): boolean {
  return blockedMs > 0 || bannedMs > 0
}
