import type { Store } from '@sluice/core'
import { transactionalStore } from './transactional-store.ts'

/** A store whose transactions are on a `Map`. Each is decided twice, as if another process had come between. */
export function mapStore(clock: () => number): Store<'async'> {
  const values = new Map<string, Uint8Array>()
  return transactionalStore({
    clock,
    async transact(keys, decide) {
      const states = () => keys.map((key) => values.get(key))
      decide(states(), clock())
      const { changes, value } = decide(states(), clock())
      for (const { key, state } of changes) {
        if (state === undefined) values.delete(key)
        else values.set(key, state)
      }
      return value
    },
  })
}
