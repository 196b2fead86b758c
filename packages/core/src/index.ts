export type { AlgorithmName } from './algorithms/algorithm.ts'
export type { Decision, PolicyDecision } from './decision.ts'
export { SluiceError } from './errors.ts'
export { createLimiter, type Limiter, type LimiterOptions } from './limiter.ts'
export type { Duration } from './options/duration.ts'
export type { PolicyOptions } from './policy.ts'
export {
  type MemoryStore,
  type MemoryStoreOptions,
  memoryStore,
} from './stores/memory/memory-store.ts'
export type { RedisClient } from './stores/redis/client.ts'
export { type RedisStoreOptions, redisStore } from './stores/redis/redis-store.ts'
export type { Charge, Ledger, Ruling, Space, Store } from './stores/store.ts'
