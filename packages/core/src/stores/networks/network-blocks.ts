import { afterAsking } from '#platform'
import { SluiceError } from '../../errors/sluice-error.ts'
import { StoreError } from '../../errors/store-error.ts'
import { parseAddress } from '../../key/address.ts'
import { AddressRanges } from '../../key/address-ranges.ts'
import { type Cidr, cidrText, parseCidr } from '../../key/cidr.ts'
import { type IpAddress, setTunnelled } from '../../key/ip.ts'
import { type MaybePromise, then } from '../../maybe-promise.ts'
import { Deadline, PendingCall } from '../calls/deadline.ts'
import { versionOf } from '../documents/document.ts'
import type { Documents, Store } from '../store.ts'
import { addNetworks, type BlockedNetworks, readNetworks, writeNetworks } from './network-text.ts'

/** The name of the document that has them. */
const NAME = 'networks'
/** How often a process asks a remote store for the networks at most, ms. */
const READ_EVERY_MS = 2000
/** When an answer that has not come is no longer waited for, ms. */
const LOST_MS = 10_000
/** How often a change is tried if other processes change the networks too. */
const MAX_ATTEMPTS = 100

/** The longest that a change of the networks may take, ms. */
const changes = new Deadline(5000)

/** Changes the networks. @returns whether anything has changed */
type Edit = (networks: BlockedNetworks, now: number) => boolean

/** A network that is blocked. */
export interface BlockedNetwork {
  readonly network: string
  /** The time until the block ends, ms. */
  readonly endsMs: number
}

/**
 * The networks that are blocked under a prefix, as far as this process knows. It asks the store in the
 * background while requests come. While the store fails, what was known last stays in force.
 */
export class NetworkBlocks {
  /** How many are known to be blocked; 0: there is nothing to look for. */
  size = 0
  /** When to call `refresh`, by `performance.now()`, once a request has come. */
  dueAt: number
  private readonly store: Store
  private readonly prefix: string
  private readonly documents: Documents | undefined
  private version = ''
  private ranges = new AddressRanges()
  /** When the last block ends, ms on the store's clock. */
  private lastEnd = 0
  /** What to add to `performance.now()` for the store's clock, ms. */
  private aheadMs = 0
  /** Counts what has been learned, so that a late answer does not undo it. */
  private learned = 0
  /** Until when an answer is awaited, by `performance.now()`. */
  private awaitedUntil = 0
  /** The changes of this process come one after the other. */
  private changing: Promise<unknown> = Promise.resolve()

  constructor(store: Store, prefix: string) {
    this.store = store
    this.prefix = prefix
    this.documents = store.documents
    this.dueAt = store.mode === 'async' && this.documents !== undefined ? 0 : Infinity
  }

  /**
   * The time until an address is no longer blocked, ms; 0 if it is not.
   *
   * @param address its text, in any spelling; undefined: the client has none
   */
  blockedMs(address: string | undefined): number {
    if (this.size === 0) return 0
    const found = address === undefined ? undefined : parseAddress(address)
    return found === undefined ? 0 : this.msOf(found)
  }

  /** The time until a key is no longer blocked, ms, if it is an address or a network; 0 for any other key. */
  blockedKeyMs(key: string): number {
    const cidr = this.size === 0 ? undefined : parseCidr(key)
    return cidr === undefined ? 0 : this.msOf(cidr.network, cidr.prefix)
  }

  /** Now, ms on the store's clock. */
  now(): number {
    return this.store.clock?.() ?? Math.round(performance.now() + this.aheadMs)
  }

  /**
   * Asks the store in the background whether the networks have changed, at the moment when the decisions of this turn
   * are asked for: over HTTP that is one request. Call it when it is due.
   */
  refresh(): void {
    const now = performance.now()
    this.dueAt = now + READ_EVERY_MS
    if (now < this.awaitedUntil) return
    this.awaitedUntil = now + LOST_MS
    afterAsking(() => void this.ask().finally(() => (this.awaitedUntil = 0)))
  }

  /** Asks the store, and learns what it answers. A failure leaves what is known. */
  private async ask(): Promise<void> {
    const { learned } = this
    try {
      const read = await this.documents?.read(this.prefix, NAME, this.version)
      if (read === undefined) return
      this.aheadMs = read.at - performance.now()
      if (read.text !== undefined && learned === this.learned)
        this.learn(readNetworks(read.text, read.at), versionOf(read.text), read.at)
    } catch {
      // The networks that are known stay in force.
    }
  }

  /**
   * Blocks networks, all or none of them: in this process at once, in the others when they ask again.
   *
   * @throws SluiceError if there are too many, or the store can't keep them
   */
  block(networks: readonly Cidr[], durationMs: number): MaybePromise<void> {
    return this.change('block', (blocked, now) => addNetworks(blocked, networks, now + durationMs))
  }

  /** Ends the blocks of exactly these networks. */
  unblock(networks: readonly Cidr[]): MaybePromise<void> {
    return this.change('reset', (blocked) => {
      const ended = networks.filter((network) => blocked.delete(cidrText(network)))
      return ended.length > 0
    })
  }

  /** All that the store has, the one that lasts longest first. */
  list(): MaybePromise<BlockedNetwork[]> {
    return then(this.supported().read(this.prefix, NAME, ''), ({ text = '', at }) =>
      [...readNetworks(text, at)]
        .map(([network, end]) => ({ network, endsMs: end - at }))
        .sort((one, other) => other.endsMs - one.endsMs),
    )
  }

  /** Forgets what is known, and asks again. */
  forget(): void {
    if (this.dueAt === Infinity) return
    this.learn(new Map(), '', 0)
    this.dueAt = 0
  }

  /** @param address is changed */
  private msOf(address: IpAddress, most?: number): number {
    const now = this.now()
    if (now >= this.lastEnd) this.size = 0
    let end = this.ranges.endOf(address, most)
    // A host that chooses between its own address and those of a tunnel must not escape.
    if (setTunnelled(address)) end = Math.max(end, this.ranges.endOf(address))
    return Math.max(0, end - now)
  }

  private change(operation: 'block' | 'reset', edit: Edit): MaybePromise<void> {
    const documents = this.supported()
    if (this.store.mode === 'sync') return this.attempt(documents, operation, edit, 1)
    const done = this.changing.then(() => inTime(this.attempt(documents, operation, edit, 1)))
    this.changing = done.catch(() => {})
    return done.catch((error) => {
      if (error instanceof SluiceError || error instanceof StoreError) throw error
      throw new StoreError({
        code: 'SLUICE_STORE_UNAVAILABLE',
        operation,
        problem: 'the store did not confirm it',
        advice: 'It may hold nevertheless: repeat it when the store is back.',
        cause: error,
      })
    })
  }

  private attempt(
    documents: Documents,
    operation: string,
    edit: Edit,
    attempts: number,
  ): MaybePromise<void> {
    return then(documents.read(this.prefix, NAME, ''), ({ text = '', at }) => {
      const networks = readNetworks(text, at)
      if (!edit(networks, at)) return this.learn(networks, versionOf(text), at)
      const changed = writeNetworks(networks)
      const ttlMs = Math.max(0, ...networks.values()) - at
      return then(
        documents.replace(this.prefix, NAME, versionOf(text), changed, ttlMs),
        (isDone) => {
          if (isDone) return this.learn(networks, versionOf(changed), at)
          if (attempts < MAX_ATTEMPTS) return this.attempt(documents, operation, edit, attempts + 1)
          throw new StoreError({
            code: 'SLUICE_STORE_CONTENTION',
            operation,
            problem: `others changed the networks during each of ${MAX_ATTEMPTS} attempts`,
            advice: 'Nothing was written. Try again.',
          })
        },
      )
    })
  }

  /** @param at when the store had them, ms on its clock */
  private learn(networks: BlockedNetworks, version: string, at: number): void {
    this.ranges = new AddressRanges()
    this.lastEnd = 0
    for (const [network, end] of networks) {
      const cidr = parseCidr(network)
      if (cidr === undefined) continue
      this.ranges.add(cidr, end)
      this.lastEnd = Math.max(this.lastEnd, end)
    }
    this.version = version
    this.size = networks.size
    this.aheadMs = at - performance.now()
    this.learned += 1
  }

  /** @throws SluiceError if the store can't keep networks */
  private supported(): Documents {
    if (this.documents !== undefined) return this.documents
    throw new SluiceError({
      code: 'SLUICE_OPTION_CONFLICT',
      option: 'store',
      expected: 'a store that keeps networks',
      said: 'a store without documents',
      fix: 'Use the option deny, or add documents to the store.',
    })
  }
}

/** The networks that this process knows, by their prefixes. */
const known = new WeakMap<Store, Map<string, NetworkBlocks>>()
/** The values of `known` for remote stores that are still in use, and perhaps for some that were. */
const all = new Set<WeakRef<NetworkBlocks>>()

/** What this process knows of the networks under a prefix, which all limiters share. */
export function networkBlocksOf(store: Store, prefix: string): NetworkBlocks {
  const ofStore = known.get(store) ?? new Map<string, NetworkBlocks>()
  known.set(store, ofStore)
  let blocks = ofStore.get(prefix)
  if (blocks === undefined) {
    blocks = new NetworkBlocks(store, prefix)
    ofStore.set(prefix, blocks)
    // A limiter that is made for each request has a memory store each time: nothing of that may stay.
    if (store.mode === 'async') all.add(new WeakRef(blocks))
  }
  return blocks
}

/** Forgets what this process knows of the networks in remote stores: for tests. */
export function forgetNetworks(): void {
  for (const each of all) {
    const blocks = each.deref()
    if (blocks === undefined) all.delete(each)
    else blocks.forget()
  }
}

/** A change that somebody waits for. */
class AwaitedChange extends PendingCall {
  private readonly reject: (error: Error) => void

  constructor(reject: (error: Error) => void) {
    super()
    this.reject = reject
  }

  override giveUp(error: Error): void {
    this.reject(error)
  }
}

/** Rejects if the work takes too long. */
function inTime(work: MaybePromise<void>): Promise<void> {
  return new Promise((resolve, reject) => {
    const awaited = new AwaitedChange(reject)
    changes.start(awaited)
    Promise.resolve(work)
      .then(resolve, reject)
      .finally(() => changes.end(awaited))
  })
}
