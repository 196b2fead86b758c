import type { InspectableStore } from '@sluice/core'
import {
  AddressRanges,
  type BlockedNetwork,
  type Cidr,
  checkNetwork,
  isAddressLike,
  isIPv4,
  networkBlocksOf,
  parseCidr,
  sharedDocumentsOf,
} from '@sluice/core/operator'

/**
 * The network that a text means; undefined if it is the key of a client, as an IPv6 network of the limiters'
 * length is.
 *
 * @throws SluiceError if it looks like a network that can't be blocked
 */
export function networkOf(text: string, ipv6Prefix: string): Cidr | undefined {
  if (!text.includes('/') || !isAddressLike(text)) return undefined
  const cidr = parseCidr(text)
  const isKey = cidr && !isIPv4(cidr.network) && cidr.prefix === Number(ipv6Prefix)
  return isKey ? undefined : checkNetwork(text)
}

/** Now, ms on the store's clock, once a document was read. */
export function storeTime(store: InspectableStore, prefix: string): number {
  return store.documents === undefined ? Date.now() : sharedDocumentsOf(store, prefix).now()
}

/** The networks that are blocked under a prefix, the one that lasts longest first. */
export async function blockedNetworks(
  store: InspectableStore,
  prefix: string,
): Promise<readonly BlockedNetwork[]> {
  return store.documents === undefined ? [] : networkBlocksOf(store, prefix).list()
}

/** Says of a client's key until when its network is blocked, ms; −Infinity if it is in no such network. */
export function endsByKey(blocked: readonly BlockedNetwork[]): (key: string) => number {
  const ranges = new AddressRanges()
  for (const { network, until } of blocked) ranges.add(checkNetwork(network), until)
  return (key) => {
    const client = blocked.length === 0 ? undefined : parseCidr(key.replace(/^\{[^}]+\}/, ''))
    return client === undefined ? -Infinity : ranges.endOf(client.network, client.prefix)
  }
}

/** The blocked networks around a client's key, if that is an address or a network. */
export async function networksAround(
  store: InspectableStore,
  prefix: string,
  key: string,
): Promise<readonly BlockedNetwork[]> {
  if (parseCidr(key) === undefined) return []
  const blocked = await blockedNetworks(store, prefix)
  return blocked.filter((each) => endsByKey([each])(key) !== -Infinity)
}
