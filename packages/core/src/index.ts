export type { AlgorithmName } from './algorithms/index.ts'
export { SluiceError } from './errors/sluice-error.ts'
export { StoreError } from './errors/store-error.ts'
export { WaitError } from './errors/wait-error.ts'
export type {
  BanEvent,
  ConsumeTrace,
  DecisionEvent,
  LimiterEvent,
  OverloadClassEvent,
  OverloadEvent,
  PolicyChangeEvent,
  PolicyEvent,
  SettledPolicyEvent,
  SettleEvent,
  StoreEvent,
  ThresholdEvent,
  WaitTrace,
} from './events.ts'
export { addressKey } from './key/address.ts'
export type { Acquisition } from './limiter/acquisition.ts'
export type { BanOptions } from './limiter/ban.ts'
export { createLimiter } from './limiter/create-limiter.ts'
export type { BanDecision, Decision, PolicyDecision } from './limiter/decision.ts'
export type { EventOptions } from './limiter/event-options.generated.ts'
export type { GrantOptions, Limiter, OverrideOptions, WaitOptions } from './limiter/limiter.ts'
export type { LimiterOptions } from './limiter/limiter-options.generated.ts'
export type {
  ChangeOptions,
  PolicyControl,
  PolicyDifference,
  PolicyState,
  SetOptions,
} from './limiter/live/policy-state.ts'
export type { LiveBounds } from './limiter/live-bounds.ts'
export type { PolicyOptions, StoreOptions } from './limiter/options.generated.ts'
export type { Turn } from './limiter/waiting/turn.ts'
export type { MaybePromise } from './maybe-promise.ts'
export type { Duration } from './options/duration.ts'
export type { Unit } from './options/unit.ts'
export type {
  PolicyChange,
  PolicyLayers,
  PolicySettings,
  SettingsLayer,
} from './stores/documents/policy-document.ts'
export { type MemoryStore, memoryStore } from './stores/memory/memory-store.ts'
export type { MemoryStoreOptions, RedisStoreOptions } from './stores/options.generated.ts'
export type { RedisClient } from './stores/redis/client.ts'
export { redisStore } from './stores/redis/redis-store.ts'
export type {
  Charge,
  ChargeIncrease,
  DecisionSource,
  Documents,
  InspectableStore,
  InspectOptions,
  InspectProgress,
  Keyspace,
  Ledger,
  Store,
  StoreEntry,
  StoreMode,
  StoreResult,
} from './stores/store.ts'
