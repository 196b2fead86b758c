import { LoadingLedger } from '../loading-ledger.ts'
import { openLedger } from '../open-ledger.ts'
import type { Keyspace, Ledger, Store } from '../store.ts'
import type { FailureMode } from './guarded-ledger.ts'
import type { Resilience } from './resilience.ts'

/**
 * A remote store for one limiter: every request is decided in time, whatever the store does. What that takes is
 * loaded here, since a limiter in memory needs none of it.
 */
export function resilientStore(store: Store<'async'>, mode: FailureMode) {
  let shared: Resilience | undefined
  let isOpen = true
  async function load(): Promise<Resilience> {
    const { resilienceOf } = await import('./resilience.ts')
    if (shared === undefined) {
      shared = resilienceOf(store)
      if (isOpen) shared.join()
    }
    return shared
  }
  return {
    /**
     * @param settles whether charges of these keyspaces are settled
     * @throws the errors of the store
     */
    open(keyspaces: readonly Keyspace[], prefix: string, settles = mode.settles): Ledger<'async'> {
      const remote = openLedger(store, keyspaces, prefix, mode.deadlineMs)
      return new LoadingLedger(async () => {
        const resilience = await load()
        // Requests that arrive while both are loaded are sent together, over REST in one call.
        if (remote instanceof LoadingLedger) await remote.ready()
        return resilience.open(keyspaces, prefix, { ...mode, settles }, remote)
      })
    },
    /** The limiter is closed. If it is used again, this process starts to count from zero. */
    close(): void {
      if (isOpen) shared?.leave()
      isOpen = false
    },
  }
}
