import { VaryingLimiter, type VaryingLimiterOptions } from './varying-limiter.ts'

/** Where requests are counted, and what happens when a remote store fails. */
export type SluiceStorageOptions = VaryingLimiterOptions

/** The record of a request for a throttler. Times are whole s, rounded up. */
export interface SluiceStorageRecord {
  /** Requests in the last `ttl`. A refused one is not kept, but counts itself. */
  readonly totalHits: number
  /** The time until the oldest of them leaves; at most `ttl`. */
  readonly timeToExpire: number
  readonly isBlocked: boolean
  /** 0 unless blocked; otherwise how long to wait. */
  readonly timeToBlockExpire: number
}

/** A `ThrottlerStorage` of `@nestjs/throttler` 6. */
export interface SluiceStorage {
  /** @param ttl ms @param blockDuration ms; 0: a refusal blocks nothing */
  increment(
    key: string,
    ttl: number,
    limit: number,
    blockDuration: number,
    throttlerName: string,
  ): Promise<SluiceStorageRecord>
  /** Called by Nest when the application has closed its connections. */
  onApplicationShutdown(): void
}

/**
 * A storage for `@nestjs/throttler`: `ThrottlerModule.forRoot({ throttlers, storage:
 * sluiceStorage({ store: redis }) })`. Like the throttler's own storage, it counts each request for
 * exactly its `ttl`. The first request above the limit starts `blockDuration`, during which it
 * refuses; then the quota is full.
 *
 * @throws SluiceError if an option is unknown, of the wrong type or out of range
 */
export function sluiceStorage(options: SluiceStorageOptions = {}): SluiceStorage {
  const limiter = new VaryingLimiter(options)
  return {
    async increment(key, ttl, limit, blockDuration, name) {
      const blockMs = Math.max(0, blockDuration)
      const decision = await limiter.consume(key, { name, limit, windowMs: ttl, blockMs })
      const { allowed, remaining, retryAfterMs, ban, policies } = decision
      // With a limit of 0 no wait is enough.
      const waitMs = Math.min(ban?.endsMs ?? retryAfterMs, Math.max(ttl, blockMs))
      return {
        totalHits: allowed ? Math.max(0, limit - remaining) : limit + 1,
        timeToExpire: Math.ceil(Math.min(policies[0]?.effectiveMs ?? ttl, ttl) / 1000),
        isBlocked: !allowed,
        timeToBlockExpire: Math.ceil(waitMs / 1000),
      }
    },
    onApplicationShutdown: () => limiter.close(),
  }
}
