import type { Decision, Limiter } from '@sluice/core'
import { checkFunction, conflict, StoreLimiter, textOf, warnOnce } from '@sluice/core/internal'

/** The requests of a client, as express-rate-limit counts them. */
export interface SluiceStoreHits {
  /** Above the limit of the middleware: the limiter refuses. */
  readonly totalHits: number
  /** When a refused client may come back; of another one, when its quota is full again. */
  readonly resetTime: Date | undefined
}

/** A `Store` of express-rate-limit 7 and 8. */
export interface SluiceStore {
  /** True: what one store counts does not change what another one counts. */
  readonly localKeys: true
  /** Called by the middleware, with its options. */
  init(options: {
    readonly limit?: unknown
    readonly skipFailedRequests?: boolean
    readonly skipSuccessfulRequests?: boolean
  }): void
  increment(key: string): Promise<SluiceStoreHits>
  decrement(key: string): Promise<void>
  resetKey(key: string): Promise<void>
  get(key: string): Promise<SluiceStoreHits>
  shutdown(): void
}

/**
 * Counts for express-rate-limit, where an application has it and takes only its options:
 * `store: sluiceStore(createLimiter({ store: redis, limit: 100, window: '15m' }))`. The limiter decides, by its own limit
 * and window. Those of the middleware should be the same; another limit causes a warning.
 *
 * A refusal costs nothing. With `skipFailedRequests` or `skipSuccessfulRequests` it counts as a request, since the
 * middleware gives those back that it skips.
 *
 * `init` and `increment` throw a SluiceError where one of these two meets a bucket: what refused requests owe would
 * refuse the client long after they end. A window ends it.
 *
 * @throws SluiceError if it is no limiter
 */
export function sluiceStore(limiter: Limiter): SluiceStore {
  checkFunction('limiter.consume', limiter?.consume, 'of a limiter, which createLimiter makes')
  const isBucket =
    limiter instanceof StoreLimiter &&
    limiter.compiledPolicies.some(({ algorithm }) => algorithm.drains)
  /** The limit of the middleware; undefined where it is a function. */
  let limit: number | undefined
  let countsRefusals = false

  const check = () => {
    if (countsRefusals && isBucket)
      throw conflict(
        'algorithm',
        'a window, beside skipFailedRequests or skipSuccessfulRequests',
        'a bucket',
        "Make the limiter of sluiceStore with algorithm: 'sliding-window'.",
      )
  }
  const settle = async (key: string, delta: number): Promise<void> => {
    try {
      await limiter.settle(key, delta)
    } catch (error) {
      // The middleware calls after the response has ended, where a rejection would end the process.
      warnOnce(
        'SLUICE_SETTLE',
        `The store did not confirm what express-rate-limit gives back, or charges: ${textOf(error)}`,
      )
    }
  }
  const hitsOf = (decision: Decision): number => {
    const { allowed, policies } = decision
    if (limit !== undefined && policies.every((policy) => policy.limit !== limit))
      warnOnce(
        'SLUICE_OTHER_LIMIT',
        `The limiter of sluiceStore has the limit ${decision.limit}, express-rate-limit has ${limit}. ` +
          'The limiter decides. Write the same limit and window for both.',
      )
    if (!allowed) return limit === undefined ? Number.MAX_SAFE_INTEGER : limit + 1
    // The middleware compares with its own limit, and takes no 0.
    return Math.max(1, Math.min(usedOf(decision), limit ?? Infinity))
  }
  return {
    localKeys: true,
    init(options) {
      limit = typeof options.limit === 'number' ? options.limit : undefined
      countsRefusals = !!(options.skipFailedRequests || options.skipSuccessfulRequests)
      check()
    },
    async increment(key) {
      check()
      const decision = await limiter.consume(key)
      if (countsRefusals && !decision.allowed) await settle(key, 1)
      return { totalHits: hitsOf(decision), resetTime: resetTimeOf(decision) }
    },
    decrement: (key) => settle(key, -1),
    async resetKey(key) {
      await limiter.reset(key)
    },
    async get(key) {
      const decision = await limiter.peek(key)
      return { totalHits: usedOf(decision), resetTime: resetTimeOf(decision) }
    },
    shutdown: () => limiter.close(),
  }
}

/** Units; 0 where all policies are dry runs, which have no limit together. */
function usedOf({ limit, remaining }: Decision): number {
  return limit === Infinity ? 0 : limit - remaining
}

function resetTimeOf({ allowed, resetMs, retryAfterMs }: Decision): Date | undefined {
  const waitMs = allowed ? resetMs : retryAfterMs
  return waitMs === Infinity ? undefined : new Date(Date.now() + waitMs)
}
