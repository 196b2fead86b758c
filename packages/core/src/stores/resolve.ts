import { memoryStore } from './memory/memory-store.ts'
import { checkClient, type RedisClient } from './redis/client.ts'
import { redisStore } from './redis/redis-store.ts'
import type { Store } from './store.ts'

/** The store that the option `store` means: one of its own, an embedded one, or a client's. */
export function resolveStore(store: Store | RedisClient | undefined): Store {
  if (store === undefined) return memoryStore()
  return isStore(store) ? store : redisStore(checkClient('store', store))
}

function isStore(value: unknown): value is Store {
  const store = value as Partial<Store> | null
  return typeof store?.open === 'function' && typeof store.close === 'function'
}
