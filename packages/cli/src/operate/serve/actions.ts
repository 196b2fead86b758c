import type { InspectableStore } from '@sluice/core'
import { type BlockedNetwork, cidrText } from '@sluice/core/operator'
import { UsageError } from '@sluice/terminal/usage-error'
import { apply, type Change, type EntryFilter, keyspacesFor } from '../change.ts'
import { blockFor, limitTo } from '../change-command.ts'
import { clientKey } from '../client-key.ts'
import { type EntryRecord, toRecord } from '../entry-record.ts'
import { changeNetworks, networkOf, networksAround } from '../networks.ts'

/** A client, and how it stands. */
export interface ClientRecord {
  readonly key: string
  readonly entries: readonly EntryRecord[]
  /** The blocked networks that it is in. */
  readonly networks: readonly BlockedNetwork[]
}

/** The requests of the page, and its actions. */
export class Actions {
  readonly #store: InspectableStore
  readonly #filter: EntryFilter
  readonly #ipv6Prefix: string

  constructor(store: InspectableStore, filter: EntryFilter, ipv6Prefix: string) {
    this.#store = store
    this.#filter = filter
    this.#ipv6Prefix = ipv6Prefix
  }

  async inspect(text: string): Promise<ClientRecord> {
    const key = this.#keyOf(text)
    const entries = []
    for await (const entry of this.#store.inspect({ ...this.#filter, key }))
      entries.push(toRecord(entry))
    return { key, entries, networks: await networksAround(this.#store, this.#prefix, key) }
  }

  /** Frees a client. @returns its key, and the number of keyspaces in which it was changed */
  change(action: 'reset' | 'unblock', text: string): Promise<{ key: string; changed: number }> {
    return this.#make({ action }, text)
  }

  /** @param duration such as `1h`, as it came */
  block(text: string, duration: unknown): Promise<{ key: string; changed: number }> {
    return this.#make(blockFor(duration as string), text)
  }

  /**
   * Gives a client a limit of its own in one policy, or ends it.
   * @param units as they came; undefined: it ends
   * @param duration such as `30d`, as it came; undefined: until it is ended
   */
  limit(
    text: string,
    policy: unknown,
    units: unknown,
    duration: unknown,
  ): Promise<{ key: string; changed: number }> {
    if (typeof policy !== 'string') throw new UsageError('expected the name of a policy')
    const time = duration === undefined ? undefined : String(duration)
    const typed = units === undefined ? undefined : String(units)
    return this.#make(limitTo(typed, { for: time, end: units === undefined }), text, policy)
  }

  /** @param policy the only policy; undefined: those that the page shows */
  async #make(
    change: Change,
    text: string,
    policy = this.#filter.policy,
  ): Promise<{ key: string; changed: number }> {
    const network = networkOf(text, this.#ipv6Prefix)
    if (network !== undefined) {
      const isOwnLimit = change.action === 'limit' || change.action === 'unlimit'
      if (isOwnLimit) throw new UsageError('expected a client: a limit is that of one client')
      const changed = await changeNetworks(this.#store, change, [network], this.#prefix)
      return { key: cidrText(network), changed: changed.length }
    }
    const key = clientKey(text, this.#ipv6Prefix)
    const found = await keyspacesFor(this.#store, change, key, { ...this.#filter, policy })
    await apply(this.#store, change, key, found)
    return { key, changed: found.length }
  }

  #keyOf(text: string): string {
    const network = networkOf(text, this.#ipv6Prefix)
    return network === undefined ? clientKey(text, this.#ipv6Prefix) : cidrText(network)
  }

  get #prefix(): string {
    return this.#filter.prefix ?? 'sluice'
  }
}
