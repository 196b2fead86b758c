import type { InspectableStore } from '@sluice/core'
import { UsageError } from '@sluice/terminal/usage-error'
import { blockFor, type Change, type EntryFilter, limitTo } from '../change.ts'
import { clientKey } from '../client-key.ts'
import { clientPlan } from '../client-plan.ts'
import { standOf } from '../client-stand.ts'
import { networkPlan } from '../network-plan.ts'
import { networkOf } from '../networks.ts'
import { type Requests, text } from './requests.ts'

/** What a change has done. */
export interface Changed {
  readonly key: string | undefined
  /** The number of keyspaces in which the client was changed, or of networks. */
  readonly changed: number
  /** When it ends by itself, ms on the store's clock; undefined: it does not. */
  readonly until: number | undefined
}

/** The requests of the page about a client: to inspect it, and to change it. */
export function clientRequests(
  store: InspectableStore<'async'>,
  shown: EntryFilter,
  ipv6Prefix: string,
) {
  /** @param filter the policies to change it in. Default: those that the page shows */
  async function make(change: Change, client: unknown, filter = shown): Promise<Changed> {
    const name = keyOf(client)
    const network = networkOf(name, ipv6Prefix)
    const { key, places, make } =
      network === undefined
        ? await clientPlan(store, change, clientKey(name, ipv6Prefix), filter)
        : await networkPlan(store, change, [network], filter.prefix)
    const made = places.length === 0 ? undefined : await make()
    return { key, changed: places.length, until: made?.until }
  }
  return {
    inspect: ({ key }) => standOf(store, keyOf(key), shown, ipv6Prefix),
    reset: ({ key }) => make({ action: 'reset' }, key),
    unblock: ({ key }) => make({ action: 'unblock' }, key),
    block: ({ key, duration }) => make(blockFor(text(duration)), key),
    /** Without units, the client's own limit in the policy ends. */
    limit: ({ key, policy, units, duration }) => {
      if (typeof policy !== 'string') throw new UsageError('expected the name of a policy')
      const typed = text(units) || undefined
      const change = limitTo(typed, { for: text(duration) || undefined, end: typed === undefined })
      return make(change, key, { ...shown, policy })
    },
  } satisfies Requests
}

function keyOf(given: unknown): string {
  if (typeof given === 'string') return given
  throw new UsageError('expected the key of a client')
}
