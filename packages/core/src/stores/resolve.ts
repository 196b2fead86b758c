import { madeOnce } from '../made-once.ts'
import { checkOneOf } from '../options/checks.ts'
import { memoryStore } from './memory/memory-store.ts'
import { checkClient, type RedisClient } from './redis/client.ts'
import { redisStore } from './redis/redis-store.ts'
import type { Store, StoreMode } from './store.ts'

/** The option `store`: a Redis client, unwrapped, or a store. */
export type StoreOption<M extends StoreMode = StoreMode> =
  | { sync: Store<'sync'>; async: Store<'async'> | RedisClient }[M]
  | Store<M>

/** The store of each client, so that all limiters on it share its health. */
const stores = new WeakMap<RedisClient, Store>()

/** The store that the option `store` means: a new memory store, a given one, or that of a client. */
export function resolveStore(store: Store | RedisClient | undefined): Store {
  if (store === undefined) return memoryStore()
  if (!isStore(store)) {
    const client = checkClient('store', store)
    return madeOnce(stores, client, () => redisStore(client))
  }
  checkOneOf('store.mode', store.mode, ['sync', 'async'])
  return store
}

function isStore(value: unknown): value is Store {
  const store = value as Partial<Store> | null
  return typeof store?.open === 'function' && typeof store.close === 'function'
}
