import type { Store } from '@sluice/core'

/** A store that notes the key of every charge it is asked to decide, in order. */
export function recordingStore(inner: Store, keys: string[]): Store {
  return {
    mode: inner.mode,
    clock: inner.clock,
    open(keyspaces, prefix) {
      const ledger = inner.open(keyspaces, prefix)
      return {
        consume(charges) {
          for (const { key } of charges) keys.push(key)
          return ledger.consume(charges)
        },
        peek: (charges) => ledger.peek(charges),
        renew: (requests) => ledger.renew?.(requests),
        settle: (charges, chargedAt) => ledger.settle(charges, chargedAt),
        block: (key, durationMs) => ledger.block(key, durationMs),
        reset: (key) => ledger.reset(key),
      }
    },
    close: () => inner.close(),
  }
}
