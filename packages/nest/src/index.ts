export * from '@sluice/http'
export { RateLimit, RateLimitDecision, SkipRateLimit } from './decorators.ts'
export { RateLimitException } from './exception.ts'
export { type HttpExchange, RateLimitGuard } from './guard.ts'
export {
  type RateLimitAsyncOptions,
  RateLimitModule,
  type RateLimitOptions,
  type RateLimitOptionsFactory,
} from './module.ts'
export { RateLimits } from './rate-limits.ts'
export type { NestRequest, NestResponse } from './request-adapter.ts'
export {
  type SluiceStorage,
  type SluiceStorageOptions,
  type SluiceStorageRecord,
  sluiceStorage,
} from './throttler-storage.ts'
