import type { Store } from '@sluice/core'

/** A store that notes the key of every charge it is asked to decide, in order. */
export function recordingStore(inner: Store, keys: string[]): Store {
  return {
    mode: inner.mode,
    clock: inner.clock,
    open(keyspaces, prefix) {
      const ledger = inner.open(keyspaces, prefix)
      return {
        decide(requests, isPeek) {
          if (!isPeek) for (const { key } of requests.flat()) keys.push(key)
          return ledger.decide(requests, isPeek)
        },
        change: (change) => ledger.change(change),
      }
    },
    close: () => inner.close(),
  }
}
