import { parseAddress } from '../../key/address.ts'
import { AddressRanges } from '../../key/address-ranges.ts'
import { type Cidr, cidrText, parseCidr } from '../../key/cidr.ts'
import { type IpAddress, setTunnelled } from '../../key/ip.ts'
import { madeOnce } from '../../made-once.ts'
import { andThen, type MaybePromise } from '../../maybe-promise.ts'
import { type SharedDocuments, sharedDocumentsOf } from '../documents/shared-documents.ts'
import type { Store } from '../store.ts'
import { addNetworks, type BlockedNetworks, readNetworks, writeNetworks } from './network-text.ts'

/** The name of the document that has them. */
const NAME = 'networks'

/** Changes the networks. @returns whether anything has changed */
type Edit = (networks: BlockedNetworks, now: number) => boolean

/** A network that is blocked. */
export interface BlockedNetwork {
  readonly network: string
  /** The time until the block ends, ms. */
  readonly endsMs: number
  /** When the block ends, ms since the epoch on the store's clock. */
  readonly until: number
}

/** The networks that are blocked under a prefix, as far as this process knows. */
export class NetworkBlocks {
  /** How many are known to be blocked; 0: there is nothing to look for. */
  size = 0
  readonly documents: SharedDocuments
  #ranges = new AddressRanges()
  /** When the last block ends, ms on the store's clock. */
  #lastEnd = 0

  constructor(documents: SharedDocuments) {
    this.documents = documents
    documents.follow(NAME, (text, at) => {
      if (text !== undefined) this.#learn(readNetworks(text, at))
    })
  }

  /**
   * The time until an address is no longer blocked, ms; 0 if it is not.
   *
   * @param address its text, in any spelling; undefined: the client has none
   */
  blockedMs(address: string | undefined): number {
    if (this.size === 0) return 0
    const found = address === undefined ? undefined : parseAddress(address)
    return found === undefined ? 0 : this.#msOf(found)
  }

  /** The time until a key is no longer blocked, ms, if it is an address or a network; 0 for any other key. */
  blockedKeyMs(key: string): number {
    const cidr = this.size === 0 ? undefined : parseCidr(key)
    return cidr === undefined ? 0 : this.#msOf(cidr.network, cidr.prefix)
  }

  /**
   * Blocks networks, all or none of them: in this process at once, in the others when they ask again.
   *
   * @throws SluiceError if there are too many, or the store can't keep them
   */
  block(networks: readonly Cidr[], durationMs: number): MaybePromise<void> {
    return this.#change('block', (blocked, now) => addNetworks(blocked, networks, now + durationMs))
  }

  /** Ends the blocks of exactly these networks. */
  unblock(networks: readonly Cidr[]): MaybePromise<void> {
    return this.#change('reset', (blocked) => {
      const ended = networks.filter((network) => blocked.delete(cidrText(network)))
      return ended.length > 0
    })
  }

  /** All that the store has, the one that lasts longest first. */
  list(): MaybePromise<BlockedNetwork[]> {
    return andThen(this.documents.read(NAME), ({ text, at }) =>
      [...readNetworks(text, at)]
        .map(([network, until]) => ({ network, endsMs: until - at, until }))
        .sort((one, other) => other.endsMs - one.endsMs),
    )
  }

  /** @param address is changed */
  #msOf(address: IpAddress, most?: number): number {
    const now = this.documents.now()
    if (now >= this.#lastEnd) this.size = 0
    let end = this.#ranges.endOf(address, most)
    // A host that chooses between its own address and those of a tunnel must not escape.
    if (setTunnelled(address)) end = Math.max(end, this.#ranges.endOf(address))
    return Math.max(0, end - now)
  }

  #change(operation: 'block' | 'reset', edit: Edit): MaybePromise<void> {
    return this.documents.change(NAME, operation, () => (text, at) => {
      const networks = readNetworks(text, at)
      if (!edit(networks, at)) return undefined
      const ttlMs = Math.max(0, ...networks.values()) - at
      return { text: writeNetworks(networks), ttlMs }
    })
  }

  #learn(networks: BlockedNetworks): void {
    this.#ranges = new AddressRanges()
    this.#lastEnd = 0
    for (const [network, end] of networks) {
      const cidr = parseCidr(network)
      if (cidr === undefined) continue
      this.#ranges.add(cidr, end)
      this.#lastEnd = Math.max(this.#lastEnd, end)
    }
    this.size = networks.size
  }
}

const known = new WeakMap<SharedDocuments, NetworkBlocks>()

/** The blocked networks under a prefix, which all limiters of this process share. */
export function networkBlocksOf(store: Store, prefix: string): NetworkBlocks {
  const documents = sharedDocumentsOf(store, prefix)
  return madeOnce(known, documents, () => new NetworkBlocks(documents))
}
