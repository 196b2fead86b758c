export type { AlgorithmName } from './algorithms/algorithm.ts'
export type { Decision, PolicyDecision } from './decision.ts'
export { SluiceError } from './errors.ts'
export { Gate, type Refusal, type Verdict } from './gate.ts'
export type { HeaderProfile } from './http/profiles/index.ts'
export type { WireState } from './http/wire-state.ts'
export type { KeyOption, UserOption } from './key/key.ts'
export { createLimiter, type Limiter, type LimiterOptions } from './limiter.ts'
export type { MaybePromise } from './maybe-promise.ts'
export type { Duration } from './options/duration.ts'
export type { RateLimitOptions, RequestPolicyOptions } from './options/rate-limit-options.ts'
export type { PolicyOptions } from './policy.ts'
export type { Framework } from './request.ts'
export {
  type MemoryStore,
  type MemoryStoreOptions,
  memoryStore,
} from './stores/memory/memory-store.ts'
export type { RedisClient } from './stores/redis/client.ts'
export { type RedisStoreOptions, redisStore } from './stores/redis/redis-store.ts'
export type { Charge, Ledger, Ruling, Space, Store } from './stores/store.ts'
