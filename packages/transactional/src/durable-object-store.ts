import type { Store } from '@sluice/core'
import { transactionalStore } from './transactional-store.ts'

/** The methods of the storage of a Durable Object of Cloudflare's Workers, one with SQLite, that are used. */
export interface DurableObjectStorage {
  transactionSync<T>(act: () => T): T
  readonly kv: {
    get(key: string): unknown
    put(key: string, state: Uint8Array): void
    delete(key: string): unknown
  }
  getAlarm(): Promise<number | null>
  setAlarm(time: number): Promise<void>
}

/** How long after the last state has expired the alarm comes, ms: so few requests have to move it. */
const LATER_MS = 600_000

/**
 * Keeps states in the storage of a Durable Object, where they outlive its evictions. It is for limiters in
 * this object. Its alarm comes when all of them have expired: then the class deletes everything, in `alarm()`.
 */
export function durableObjectStore(storage: DurableObjectStorage): Store<'async'> {
  return transactionalStore({
    async transact(keys, decide) {
      const now = Date.now()
      const { changes, value } = storage.transactionSync(() => {
        const states = keys.map((key) => storage.kv.get(key) as Uint8Array | undefined)
        const decided = decide(states, now)
        for (const { key, state } of decided.changes) {
          if (state === undefined) storage.kv.delete(key)
          else storage.kv.put(key, state)
        }
        return decided
      })
      const expireAt = Math.max(0, ...changes.map(({ ttlMs }) => now + ttlMs))
      if (expireAt > ((await storage.getAlarm()) ?? 0)) await storage.setAlarm(expireAt + LATER_MS)
      return value
    },
  })
}
