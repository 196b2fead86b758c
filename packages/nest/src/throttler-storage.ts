import { type Decision, type Limiter, memoryStore, SluiceError } from '@sluice/core'
import { createVaryingLimiter, type VaryingLimiterOptions } from '@sluice/core/adapter'

/** Combinations of a throttler, its ttl and its block: each counts separately. */
const MAX_LIMITERS = 100

/** Where requests are counted, and what happens when a remote store fails. */
export type SluiceStorageOptions = VaryingLimiterOptions

/** What a throttler says about a request. Times are whole s, rounded up. */
export interface SluiceStorageRecord {
  /** Requests in the last `ttl`. A refused one is not kept, but counts itself. */
  readonly totalHits: number
  /** Until the oldest of them leaves; at most `ttl`. */
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
 * Counts for `@nestjs/throttler`: `ThrottlerModule.forRoot({ throttlers, storage: sluiceStorage({ store: redis }) })`.
 * As its own storage does, it counts each request for exactly its `ttl`, and refuses for
 * `blockDuration` with the first request above the limit; then the quota is whole.
 *
 * @throws SluiceError if an option is unknown, of the wrong type or out of range
 */
export function sluiceStorage(options: SluiceStorageOptions = {}): SluiceStorage {
  const limiters = new Map<string, Limiter>()
  const own = options.store === undefined ? memoryStore() : undefined

  const limiterOf = (name: string, window: number, blockMs: number): Limiter => {
    const id = `${name} ${window} ${blockMs}`
    const known = limiters.get(id)
    if (known !== undefined) return known
    if (limiters.size === MAX_LIMITERS) throw tooMany(id)
    // A refusal remembered by another process must not outlast the block.
    const endsEarly = blockMs > 0 && blockMs < window
    const limiter = createVaryingLimiter(
      { ...options, ...(own && { store: own }), ...(endsEarly && { refusalCache: false }) },
      {
        name,
        window,
        algorithm: 'sliding-log',
        ban: blockMs > 0 ? { after: 1, within: window, for: [blockMs] } : undefined,
      },
    )
    limiters.set(id, limiter)
    return limiter
  }
  // Shows wrong options at start.
  limiterOf('default', 60_000, 60_000)

  return {
    async increment(key, ttl, limit, blockDuration, throttlerName) {
      const limiter = limiterOf(throttlerName, ttl, Math.max(0, blockDuration))
      const decision = await limiter.consume(key, { limit })
      if (decision.ban?.began && blockDuration < ttl) await forgetAfter(limiter, key, blockDuration)
      return toRecord(decision, limit, ttl, blockDuration)
    },
    onApplicationShutdown() {
      for (const limiter of limiters.values()) limiter.close()
      own?.close()
    },
  }
}

/** Makes the quota whole when the block ends: what was used before it counts for longer. */
async function forgetAfter(limiter: Limiter, key: string, blockMs: number): Promise<void> {
  try {
    await limiter.block(key, blockMs)
  } catch {
    // The store fails. What was used before counts until its ttl has passed.
  }
}

function toRecord(decision: Decision, limit: number, ttl: number, blockMs: number) {
  const { allowed, remaining, retryAfterMs, ban, policies } = decision
  const [{ effectiveMs } = { effectiveMs: ttl }] = policies
  // With a limit of 0 no wait is enough.
  const waitMs = Math.min(ban?.endsMs ?? retryAfterMs, Math.max(ttl, blockMs))
  return {
    totalHits: allowed ? Math.max(0, limit - remaining) : limit + 1,
    timeToExpire: Math.ceil(Math.min(effectiveMs, ttl) / 1000),
    isBlocked: !allowed,
    timeToBlockExpire: Math.ceil(waitMs / 1000),
  }
}

function tooMany(received: string): SluiceError {
  return new SluiceError({
    code: 'SLUICE_OPTION_RANGE',
    option: 'name, ttl, blockDuration',
    expected: `at most ${MAX_LIMITERS} combinations, because each has a quota of its own`,
    received,
    fix: 'Choose ttl and blockDuration by what you know of the client, such as its plan, not by what it sends.',
  })
}
