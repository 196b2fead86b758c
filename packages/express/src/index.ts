import { type Decision, Gate, type Limiter, type RateLimitOptions as Options } from '@sluice/core'
import type { Request, RequestHandler, Response } from 'express'
import { apply } from './apply.ts'
import { express } from './facts.ts'

export {
  type Decision,
  type Duration,
  type MemoryStoreOptions,
  memoryStore,
  type PolicyDecision,
  type RedisClient,
  type RedisStoreOptions,
  redisStore,
  SluiceError,
} from '@sluice/core'

export type RateLimitOptions = Options<Request, Response>

/** The middleware, with its limiter for the application's own use. */
export type RateLimitHandler = RequestHandler & { readonly limiter: Limiter }

declare global {
  // biome-ignore lint/style/noNamespace: how Express's types are extended
  namespace Express {
    interface Request {
      /** What the last limiter on the way decided; undefined where a request was exempt. */
      rateLimit?: Decision
    }
  }
}

/**
 * Limits the rate of requests: `app.use(rateLimit({ limit: 100, window: '1m' }))`.
 * A second one on a route adds a limit.
 *
 * @throws SluiceError if an option is unknown, of the wrong type, out of range, or contradicts
 *   another
 */
export function rateLimit(options: RateLimitOptions): RateLimitHandler {
  const gate = new Gate(options, express)
  const handler: RequestHandler = (request, response, next) => {
    const verdict = gate.check(request)
    if (verdict instanceof Promise) {
      verdict.then((each) => apply(gate, each, request, response, next)).catch(next)
    } else {
      apply(gate, verdict, request, response, next)
    }
  }
  return Object.assign(handler, { limiter: gate.limiter })
}
