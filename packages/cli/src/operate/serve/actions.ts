import type { InspectableStore } from '@sluice/core'
import { cidrText } from '@sluice/core/operator'
import { UsageError } from '@sluice/terminal/usage-error'
import { apply, type Change, type EntryFilter, keyspacesFor } from '../change.ts'
import { blockFor, limitTo } from '../change-command.ts'
import { clientKey } from '../client-key.ts'
import { type ClientStand, standOf } from '../client-stand.ts'
import { changeNetworks, networkOf } from '../networks.ts'

/** What an action has done. */
export interface Changed {
  readonly key: string
  /** The number of keyspaces in which the client was changed, or of networks. */
  readonly changed: number
  /** When it ends by itself, ms on the store's clock; undefined: it does not. */
  readonly until: number | undefined
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

  inspect(text: string): Promise<ClientStand> {
    return standOf(this.#store, text, this.#filter, this.#ipv6Prefix)
  }

  /** Frees a client. */
  change(action: 'reset' | 'unblock', text: string): Promise<Changed> {
    return this.#make({ action }, text)
  }

  /** @param duration such as `1h`, as it came */
  block(text: string, duration: unknown): Promise<Changed> {
    return this.#make(blockFor(duration as string), text)
  }

  /**
   * Gives a client a limit of its own in one policy, or ends it.
   * @param units as they came; undefined: it ends
   * @param duration such as `30d`, as it came; undefined: until it is ended
   */
  limit(text: string, policy: unknown, units: unknown, duration: unknown): Promise<Changed> {
    if (typeof policy !== 'string') throw new UsageError('expected the name of a policy')
    const time = duration === undefined ? undefined : String(duration)
    const typed = units === undefined ? undefined : String(units)
    return this.#make(limitTo(typed, { for: time, end: units === undefined }), text, policy)
  }

  /** @param policy the only policy; undefined: those that the page shows */
  async #make(change: Change, text: string, policy = this.#filter.policy): Promise<Changed> {
    const network = networkOf(text, this.#ipv6Prefix)
    if (network !== undefined) {
      const isOwnLimit = change.action === 'limit' || change.action === 'unlimit'
      if (isOwnLimit) throw new UsageError('expected a client: a limit is that of one client')
      const { changed, until } = await changeNetworks(this.#store, change, [network], this.#prefix)
      return { key: cidrText(network), changed: changed.length, until }
    }
    const key = clientKey(text, this.#ipv6Prefix)
    const filter = { ...this.#filter, policy }
    const { keyspaces } = await keyspacesFor(this.#store, change, key, filter)
    if (keyspaces.length === 0) return { key, changed: 0, until: undefined }
    const { until } = await apply(this.#store, change, key, keyspaces, this.#prefix)
    return { key, changed: keyspaces.length, until }
  }

  get #prefix(): string {
    return this.#filter.prefix ?? 'sluice'
  }
}
