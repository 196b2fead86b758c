import type { Decision, Limiter } from '@sluice/core'
import { textOf, warnOnce } from '@sluice/core/internal'

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
  increment(key: string): Promise<{ totalHits: number; resetTime: Date | undefined }>
  decrement(key: string): Promise<void>
  resetKey(key: string): Promise<void>
  get(key: string): Promise<{ totalHits: number; resetTime: Date | undefined }>
  shutdown(): void
}

/**
 * Counts for express-rate-limit, where an application has it and takes only its options:
 * `store: sluiceStore(createLimiter({ store: redis, limit: 100, window: '15m' }))`. The limiter decides, by its own limit
 * and window. Those of the middleware should be the same; another limit causes a warning.
 *
 * A refusal costs nothing. With `skipFailedRequests` or `skipSuccessfulRequests` it counts as a request, since the
 * middleware gives those back that it skips.
 */
export function sluiceStore(limiter: Limiter): SluiceStore {
  /** The limit of the middleware; undefined where it is a function. */
  let limit: number | undefined
  let countsRefusals = false

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
  const hitsOf = (decision: Decision) => {
    const { allowed, policies } = decision
    if (limit !== undefined && policies.every((policy) => policy.limit !== limit))
      warnOnce(
        'SLUICE_OTHER_LIMIT',
        `The limiter of sluiceStore has the limit ${decision.limit}, express-rate-limit has ${limit}. ` +
          'The limiter decides. Write the same limit and window for both.',
      )
    // It compares with its own limit, and takes no 0.
    const used = Math.max(1, decision.limit - decision.remaining)
    const admitted = limit === undefined ? used : Math.max(1, Math.min(used, limit))
    const refused = limit === undefined ? Number.MAX_SAFE_INTEGER : limit + 1
    const waitMs = allowed ? decision.resetMs : decision.retryAfterMs
    return {
      totalHits: allowed ? admitted : refused,
      resetTime: Number.isFinite(waitMs) ? new Date(Date.now() + waitMs) : undefined,
    }
  }
  return {
    localKeys: true,
    init(options) {
      limit = typeof options.limit === 'number' ? options.limit : undefined
      countsRefusals = !!(options.skipFailedRequests || options.skipSuccessfulRequests)
    },
    async increment(key) {
      const decision = await limiter.consume(key)
      if (countsRefusals && !decision.allowed) await settle(key, 1)
      return hitsOf(decision)
    },
    decrement: (key) => settle(key, -1),
    async resetKey(key) {
      await limiter.reset(key)
    },
    async get(key) {
      const { limit, remaining, resetMs } = await limiter.peek(key)
      return { totalHits: limit - remaining, resetTime: new Date(Date.now() + resetMs) }
    },
    shutdown: () => limiter.close(),
  }
}
