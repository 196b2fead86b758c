import type { InspectableStore, Keyspace, StoreEntry } from '@sluice/core'
import { UsageError } from '@sluice/terminal/usage-error'
import { Reading } from './reading.ts'

/** What can be done to a client. */
export type Change =
  | { readonly action: 'reset' | 'unblock' }
  | { readonly action: 'block'; readonly durationMs: number }

/** A keyspace, and the namespace that it is in. */
export interface Place {
  readonly prefix: string
  readonly keyspace: Keyspace
  /** The name of its policy. */
  readonly policy: string
}

/** Which entries of a store to look at. */
export interface Scope {
  readonly prefix: string
  readonly policy?: string | undefined
}

/** The most keyspaces that are changed, more than any application has: further ones are not a limiter's. */
const MAX_PLACES = 10_000

/**
 * Where a change of a client has to be made: reset where the client has a key; unblock where that is
 * blocked or banned; block in every keyspace that has the key of any client, since the client may have none yet.
 *
 * @param reading says how far it is
 * @throws UsageError
 */
export async function placesFor(
  store: InspectableStore,
  { action }: Change,
  key: string,
  scope: Scope,
  reading: Reading = new Reading(),
): Promise<Place[]> {
  const places = new Map<string, Place>()
  const { onProgress } = reading
  const which = action === 'block' ? { onePerKeyspace: true } : { key }
  const wanted = { ...scope, ...which, onProgress }
  for await (const entry of store.inspect(wanted)) {
    if (action === 'unblock' && !isShut(entry)) continue
    const { prefix, keyspace, policy } = entry
    places.set(`${prefix}\n${keyspace.name}`, { prefix, keyspace, policy })
    if (places.size > MAX_PLACES) {
      throw new UsageError(`more than ${MAX_PLACES} keyspaces: narrow it with --prefix or --policy`)
    }
  }
  return [...places.values()]
}

/** Makes the change in these places. */
export async function apply(
  store: InspectableStore,
  change: Change,
  key: string,
  places: readonly Place[],
): Promise<void> {
  for (const { prefix, keyspace } of places) {
    const ledger = store.open({ policies: [keyspace] }, prefix)
    if (change.action === 'block') await ledger.block(key, change.durationMs)
    else await ledger.reset(key)
  }
}

function isShut({ blockedMs, bannedMs }: StoreEntry): boolean {
  return blockedMs > 0 || bannedMs > 0
}
