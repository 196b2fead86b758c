import type { RateLimitOptions as CoreOptions, Decision, Limiter, Routes } from '@sluice/core'
import { noteEnd, RoutedLimiter } from '@sluice/core/adapter'
import type { Context, Middleware } from 'koa'
import { keepForErrorHandler, noteEndOf } from './failures.ts'
import { checkContext, koaAdapter } from './request-adapter.ts'

export * from '@sluice/core'

export type RateLimitOptions = CoreOptions<Context, Context> & {
  /**
   * Options that differ by route, in the pattern syntax of @koa/router, with the whole path,
   * or the one relative to a router's prefix: `{ 'POST /login': { limit: 5, window: '15m' }, '/health': false }`. The most specific
   * entry wins, one with a method before one without.
   */
  routes?: Routes<Context, Context> | undefined
}

/** The middleware, with its limiter for the application's own calls. */
export type RateLimitMiddleware = Middleware & {
  readonly limiter: Limiter
  /**
   * A handler that answers with what the client has used of each policy, and charges nothing: register it before
   * the limiter.
   */
  usage(): Middleware
}

declare module 'koa' {
  interface DefaultState {
    /** The decision of the last limiter; undefined if the request was exempt. */
    rateLimit?: Decision
  }
}

/**
 * Limits the rate of requests: `app.use(rateLimit({ limit: 100, window: '1m' }))`.
 * A second one on a route adds a limit.
 *
 * @throws SluiceError if an option is unknown, of the wrong type, out of range, or contradicts
 *   another
 */
export function rateLimit(options: RateLimitOptions): RateLimitMiddleware {
  const limiter = new RoutedLimiter(options, koaAdapter)
  const middleware: Middleware = async (ctx, next) => {
    checkContext(ctx)
    try {
      if (await limiter.handle(ctx, ctx)) return await next()
    } catch (error) {
      keepForErrorHandler(ctx, error)
      // Koa ends no response whose head has been sent.
      if (ctx.headerSent) noteEnd(ctx.res)
      throw error
    } finally {
      if (limiter.settles) noteEndOf(ctx)
    }
  }
  const usage = (): Middleware => (ctx) => limiter.usage(ctx, ctx)
  return Object.assign(middleware, { limiter: limiter.limiter, usage })
}

export default rateLimit
