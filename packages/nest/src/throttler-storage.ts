import { type EventOptions, memoryStore, SluiceError } from '@sluice/core'
import {
  checkKnown,
  checkObject,
  limiterOn,
  OPTIONS,
  Policy,
  type StoreLimiter,
  type StoreOptions,
} from '@sluice/core/internal'

/** Policies with their windows and blocks: each combination has a quota of its own. */
const MAX_LIMITERS = 100

const NOT_HERE = ['ban', 'lease', 'onThreshold'] as const
type NotHere = (typeof NOT_HERE)[number]

/** Where requests are counted, and what happens when a remote store fails. */
export type SluiceStorageOptions = Omit<StoreOptions & EventOptions, NotHere>

const KNOWN = Object.keys({ ...OPTIONS.store, ...OPTIONS.events }).filter(
  (name) => !NOT_HERE.includes(name as NotHere),
)

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
  checkKnown('', checkObject('options', options, 'the options of a storage'), KNOWN)
  /** The store of all policies, unless the user has one. */
  const ownStore = options.store === undefined ? memoryStore() : undefined
  const limiters = new Map<string, StoreLimiter>()

  /** The limiter of a throttler. One count of a key serves all limits, but each window and block has its own. */
  const limiterOf = (name: string, ttl: number, blockMs: number): StoreLimiter => {
    const id = `${name} ${ttl} ${blockMs}`
    const known = limiters.get(id)
    if (known !== undefined) return known
    if (limiters.size === MAX_LIMITERS) throw tooMany(id)
    // With the unit: a short one is meant, as numbers of milliseconds are all that there is here.
    const window = `${ttl}ms` as const
    const limit = () => undefined
    const limiter = limiterOn(
      [new Policy('', { name, limit, window, algorithm: 'sliding-log' })],
      {
        ...options,
        ...(ownStore && { store: ownStore }),
        ...(blockMs > 0 && { ban: { after: 1, within: window, for: [`${blockMs}ms`] } }),
        // Another process must not remember a refusal for longer than the block.
        ...(blockMs > 0 && blockMs < ttl && { refusalCache: false }),
      },
      { onDecision: options.onDecision, sharesQuotas: true },
    )
    limiters.set(id, limiter)
    return limiter
  }
  // Checks the values.
  limiterOf('default', 60_000, 60_000)

  return {
    async increment(key, ttl, limit, blockDuration, name) {
      const blockMs = Math.max(0, blockDuration)
      const limiter = limiterOf(name, ttl, blockMs)
      const decision = await limiter.consume(key, { limit })
      const { allowed, remaining, retryAfterMs, ban, policies } = decision
      if (ban?.began && blockMs < ttl) await blockUntilWhole(limiter, key, blockMs)
      // With a limit of 0 no wait is enough.
      const waitMs = Math.min(ban?.endsMs ?? retryAfterMs, Math.max(ttl, blockMs))
      return {
        totalHits: allowed ? Math.max(0, limit - remaining) : limit + 1,
        timeToExpire: Math.ceil(Math.min(policies[0]?.effectiveMs ?? ttl, ttl) / 1000),
        isBlocked: !allowed,
        timeToBlockExpire: Math.ceil(waitMs / 1000),
      }
    },
    onApplicationShutdown() {
      for (const limiter of limiters.values()) limiter.close()
      ownStore?.close()
    },
  }
}

/** Without it, units that were used before a ban shorter than the window would count for longer. */
async function blockUntilWhole(limiter: StoreLimiter, key: string, blockMs: number): Promise<void> {
  try {
    await limiter.block(key, blockMs)
  } catch {
    // The store fails. The ban holds, and what was used before counts until its window has passed.
  }
}

function tooMany(received: string): SluiceError {
  return new SluiceError({
    code: 'SLUICE_OPTION_RANGE',
    option: 'name, window, block',
    expected: `at most ${MAX_LIMITERS} combinations, because each has a quota of its own`,
    received,
    fix: 'Choose the window and the block by what you know of the client, such as its plan, not by what it sends.',
  })
}
