export type { AlgorithmName } from './algorithms/algorithm.ts'
export type { Decision, PolicyDecision } from './decision.ts'
export { SluiceError } from './errors.ts'
export { Gate, type Verdict } from './gate.ts'
export { Gates, routeGate } from './gates.ts'
export { keepFields } from './http/kept-fields.ts'
export type { HeaderProfile } from './http/profiles/index.ts'
export { exposedHeaders } from './http/profiles/index.ts'
export { RateLimitError, type Refusal, writeRefusalFields } from './http/refusal.ts'
export { addressKey } from './key/address.ts'
export type { KeyOption, UserOption } from './key/key.ts'
export type { TrustProxyOption } from './key/proxies.ts'
export { createLimiter, type Limiter, type LimiterOptions } from './limiter.ts'
export type { MaybePromise } from './maybe-promise.ts'
export { MiddlewareLimiter } from './middleware-limiter.ts'
export type { Duration } from './options/duration.ts'
export type {
  RateLimitOptions,
  RequestPolicyOptions,
  RouteOverrides,
  Routes,
  SettleOption,
} from './options/rate-limit-options.ts'
export type { PolicyOptions } from './policy.ts'
export type { Framework, ProxyTrust, Routing } from './request.ts'
export {
  type MemoryStore,
  type MemoryStoreOptions,
  memoryStore,
} from './stores/memory/memory-store.ts'
export type { RedisClient } from './stores/redis/client.ts'
export { type RedisStoreOptions, redisStore } from './stores/redis/redis-store.ts'
export type { Charge, Ledger, Mode, Ruling, Source, Space, Store } from './stores/store.ts'
export { noteEnd } from './when-ended.ts'
