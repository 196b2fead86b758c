import type { InspectableStore, StoreEntry } from '@sluice/core'
import { type BlockedNetwork, cidrText, knownKeyspaces } from '@sluice/core/operator'
import { printable } from '@sluice/terminal/printable'
import { listed } from '@sluice/terminal/words'
import type { EntryFilter } from './change.ts'
import { clientKey } from './client-key.ts'
import { type EntryRecord, toRecord } from './entry-record.ts'
import { networkOf, networksAround } from './networks.ts'
import { Reading } from './reading.ts'

/** A client, and how it stands. */
export interface ClientStand {
  readonly key: string
  readonly entries: readonly EntryRecord[]
  /** The blocked networks that it is in. */
  readonly networks: readonly BlockedNetwork[]
  /** In words, if there is neither: which of its quotas are unused, or that nothing is known. */
  readonly nothing: string | undefined
  /** Whether limiters have noted any policy that was asked for. */
  readonly isKnown: boolean
}

/**
 * How a client stands, or a network.
 *
 * @param text as it was typed
 * @throws UsageError and SluiceError about what was typed
 */
export async function standOf(
  store: InspectableStore,
  text: string,
  filter: EntryFilter,
  ipv6Prefix: string,
  reading: Reading = new Reading(),
): Promise<ClientStand> {
  const network = networkOf(text, ipv6Prefix)
  const key = network === undefined ? clientKey(text, ipv6Prefix) : cidrText(network)
  const entries: StoreEntry[] = []
  const { onProgress } = reading
  for await (const entry of store.inspect({ ...filter, key, onProgress })) entries.push(entry)
  const nameOf = ({ keyspace, prefix }: StoreEntry) => keyspace.name + prefix
  entries.sort((one, other) => (nameOf(one) < nameOf(other) ? -1 : 1))
  const networks = await networksAround(store, filter.prefix, key)
  const stand = { key, entries: entries.map(toRecord), networks, isKnown: true }
  if (entries.length > 0 || networks.length > 0) return { ...stand, nothing: undefined }
  if (network !== undefined)
    return { ...stand, nothing: `is in no blocked network under the prefix ${filter.prefix}` }
  const { keyspaces } = await knownKeyspaces(store, { ...filter, onProgress })
  const policies = [...new Set(keyspaces.map(({ policy }) => printable(policy)))].sort()
  const isKnown = policies.length > 0
  const nothing = isKnown
    ? `nothing is counted under the prefix ${filter.prefix}: unused in ${listed(policies)}`
    : nobodyCounted(filter)
  return { ...stand, nothing, isKnown }
}

/** No limiter has noted a policy: the prefix may be wrong, or not all of it. */
export function nobodyCounted({ prefix, policy }: EntryFilter): string {
  const where = policy === undefined ? '' : ` in a policy named ${printable(policy)}`
  return (
    `no limiter has counted anybody${where} under the prefix ${prefix}. Is the prefix right? ` +
    "If the application's client has a keyPrefix, name a file that exports that client with --client"
  )
}
