export type { AlgorithmName } from './algorithms/index.ts'
export { SluiceError } from './errors/sluice-error.ts'
export { StoreError } from './errors/store-error.ts'
export type { HeaderProfile } from './http/fields/profiles/index.ts'
export { exposedHeaders } from './http/fields/profiles/index.ts'
export type { KeyOption, UserOption } from './http/keys/key-reader.ts'
export type { TrustProxyOption } from './http/keys/trust-proxy.ts'
export type {
  RateLimitOptions,
  RequestPolicyOptions,
  RouteOverrides,
  Routes,
  SettleOption,
} from './http/rate-limit-options.ts'
export { RateLimitError } from './http/refusal/refusal.ts'
export { addressKey } from './key/address.ts'
export { createLimiter, type LimiterOptions } from './limiter/create-limiter.ts'
export type { Decision, PolicyDecision } from './limiter/decision.ts'
export type { Limiter } from './limiter/limiter.ts'
export type { PolicyOptions } from './limiter/policy.ts'
export type { MaybePromise } from './maybe-promise.ts'
export type { Duration } from './options/duration.ts'
export {
  type MemoryStore,
  type MemoryStoreOptions,
  memoryStore,
} from './stores/memory/memory-store.ts'
export type { RedisClient } from './stores/redis/client.ts'
export { type RedisStoreOptions, redisStore } from './stores/redis/redis-store.ts'
export type {
  Charge,
  DecisionSource,
  Keyspace,
  Ledger,
  Store,
  StoreMode,
  StoreResult,
} from './stores/store.ts'
