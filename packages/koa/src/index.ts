import type { Decision } from '@sluice/core'
import type { RateLimitOptions as CoreOptions, MiddlewareMethods, Routes } from '@sluice/http'
import { noteEnd, RoutedLimiter, warnAfterRoutes } from '@sluice/http/adapter'
import type { Context, Middleware } from 'koa'
import { keepForErrorHandler, noteEndOf } from './failures.ts'
import { checkContext, koaAdapter } from './request-adapter.ts'

export * from '@sluice/http'

export interface RateLimitOptions extends CoreOptions<Context, Context> {
  /**
   * Options that differ by route, in the pattern syntax of @koa/router. Paths are whole, or
   * relative to a router's prefix: `{ 'POST /login': { limit: 5, window: '15m' }, '/health': false
   * }`. The most specific entry wins, and an entry with a method wins over one without.
   */
  routes?: Routes<Context, Context> | undefined
}

/** The middleware, and its limiter for your own calls. */
export type RateLimitMiddleware = Middleware & MiddlewareMethods<Middleware>

declare module 'koa' {
  interface DefaultState {
    /** The decision of the last limiter; undefined if the request was exempt. */
    rateLimit?: Decision
  }
}

/**
 * Limits the rate of requests: `app.use(rateLimit({ limit: 100, window: '1m' }))`. A second limiter
 * on a route adds a limit.
 *
 * @throws SluiceError if an option is unknown, of the wrong type, out of range, or contradicts
 *   another
 */
export function rateLimit(options: RateLimitOptions): RateLimitMiddleware {
  const limiter = new RoutedLimiter(options, koaAdapter)
  let isPlaced = false
  const middleware: Middleware = async (ctx, next) => {
    checkContext(ctx)
    if (!isPlaced) {
      isPlaced = true
      warnIfLast(ctx, middleware)
    }
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
  return Object.assign(middleware, { limiter: limiter.limiter, usage, openapi: limiter.openapi })
}

/** Warns of a limiter behind all routers of the application, which only sees what none of them has answered. */
function warnIfLast({ app }: Context, middleware: Middleware): void {
  const all = app.middleware as (Middleware & { router?: unknown })[]
  const isLast = all?.at(-1) === middleware
  if (isLast && all.some(({ router }) => router !== undefined)) warnAfterRoutes()
}

export default rateLimit
