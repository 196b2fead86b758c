import type { Documents, InspectableStore, InspectOptions, StoreEntry } from '../store.ts'
import { readInspectOptions } from './inspect-options.ts'
import { foundKeyspace } from './inspected-keyspace.ts'
import { Inspection } from './inspection.ts'
import { KeptKeyspaces, MAX_KEYSPACES, SHARDED } from './kept-keyspaces.ts'
import type { KeptKeyspace } from './keyspace-text.ts'
import { basePrefix } from './scope.ts'

/** A keyspace of a policy, in a namespace of a store. */
export type FoundKeyspace = Pick<StoreEntry, 'prefix' | 'keyspace' | 'policy'>

/** The keyspaces under a prefix. */
export interface KnownKeyspaces {
  readonly keyspaces: readonly FoundKeyspace[]
  /** Whether there are keys in shards: those of one client may have different ones. */
  readonly hasShards: boolean
}

/** Which keyspaces to look for. */
export type KeyspaceFilter = Pick<InspectOptions, 'prefix' | 'policy' | 'onProgress'>

/**
 * Returns the keyspaces that limiters have noted beside their states. Where none has, it reads the names of all keys.
 *
 * @throws SluiceError if an option is wrong
 */
export async function knownKeyspaces(
  store: InspectableStore,
  filter: KeyspaceFilter,
): Promise<KnownKeyspaces> {
  const wanted = readInspectOptions(filter)
  const kept = await keptUnder(store, wanted.prefix)
  if (kept.length === 0 || kept.length >= MAX_KEYSPACES) return keyspacesOfKeys(store, filter)
  const inspection = new Inspection(wanted)
  const keyspaces = inspection.learn(kept).flatMap(({ prefix, name }) => {
    const keyspace = inspection.keyspaceOf(prefix, name)
    return keyspace ? { prefix, keyspace: foundKeyspace(keyspace), policy: keyspace.policy } : []
  })
  return { keyspaces, hasShards: kept.some(({ name }) => name === SHARDED) }
}

/**
 * Returns what the client of an application puts before its keys (`keyPrefix`), if that is a part of the given prefix:
 * then the keys under the prefix can be listed, but are not the ones that the limiters name. Undefined: nothing.
 */
export async function foreignKeyPrefix(
  store: InspectableStore,
  prefix: string,
): Promise<string | undefined> {
  const base = basePrefix(prefix)
  for (const each of await keptUnder(store, prefix)) {
    const own = basePrefix(each.prefix)
    if (own !== base && base.endsWith(own)) return base.slice(0, -own.length)
  }
  return undefined
}

/** What limiters have noted. A store in this process notes nothing: it has the keyspaces themselves. */
async function keptUnder(store: InspectableStore, prefix: string): Promise<KeptKeyspace[]> {
  const { documents, mode } = store
  if (mode === 'sync' || documents === undefined) return []
  return new KeptKeyspaces(documents as Documents<'async'>).read(prefix)
}

async function keyspacesOfKeys(
  store: InspectableStore,
  filter: KeyspaceFilter,
): Promise<KnownKeyspaces> {
  const found = new Map<string, FoundKeyspace>()
  let hasShards = false
  for await (const entry of store.inspect({ ...filter, onePerKeyspace: true })) {
    const { prefix, keyspace, policy, key } = entry
    if (key.startsWith('{')) hasShards = true
    found.set(`${prefix}\n${keyspace.name}`, { prefix, keyspace, policy })
    if (found.size === MAX_KEYSPACES) break
  }
  return { keyspaces: [...found.values()], hasShards }
}
