import type { Decision } from '@sluice/core'
import type { RateLimitOptions as CoreOptions, MiddlewareMethods, Routes } from '@sluice/http'
import { RoutedLimiter, warnAfterRoutes } from '@sluice/http/adapter'
import type { Request, RequestHandler, Response } from 'express'
import { expressAdapter } from './request-adapter.ts'

export * from '@sluice/http'

/** @typeParam R the application's type of requests */
export interface RateLimitOptions<R extends Request = Request> extends CoreOptions<R, Response> {
  /**
   * Options that differ by route, in Express's pattern syntax. Paths are whole, or relative to the
   * mount point: `{ 'POST /login': { limit: 5, window: '15m' }, '/health': false }`. The most
   * specific entry wins, and an entry with a method wins over one without.
   */
  routes?: Routes<R, Response> | undefined
}

/** The middleware, and its limiter for your own calls. */
export type RateLimitHandler = RequestHandler & MiddlewareMethods<RequestHandler>

declare global {
  // biome-ignore lint/style/noNamespace: how Express's types are extended
  namespace Express {
    interface Request {
      /** The decision of the last limiter; undefined if the request was exempt. */
      rateLimit?: Decision
    }
  }
}

/**
 * Limits the rate of requests: `app.use(rateLimit({ limit: 100, window: '1m' }))`. A second limiter
 * on a route adds a limit.
 *
 * @throws SluiceError if an option is unknown, of the wrong type, out of range, or contradicts
 *   another
 */
export function rateLimit<R extends Request = Request>(
  options: RateLimitOptions<R>,
): RateLimitHandler {
  const limiter = new RoutedLimiter(options as RateLimitOptions, expressAdapter)
  let isPlaced = false
  const handler: RequestHandler = (request, response, next) => {
    if (!isPlaced) {
      isPlaced = true
      warnIfLast(request, handler)
    }
    const passed = limiter.handle(request, response)
    if (passed instanceof Promise)
      return passed.then((goesOn) => (goesOn ? next() : undefined), next)
    return passed ? next() : undefined
  }
  const usage = (): RequestHandler => (request, response, next) =>
    limiter.usage(request, response).catch(next)
  return Object.assign(handler, { limiter: limiter.limiter, usage, openapi: limiter.openapi })
}

/** A layer of Express's router, 4 and 5. Its error handlers take four arguments. */
interface Layer {
  readonly handle: (...args: never[]) => unknown
  readonly route?: unknown
}

/** Warns of a limiter behind all routes of the application, which only sees what none of them has answered. */
function warnIfLast({ app }: Request, handler: RequestHandler): void {
  const parts = (app ?? {}) as unknown as Record<string, { stack?: Layer[] } | undefined>
  // Express 5 has no `_router`; 4 throws where `router` is read.
  const stack = (parts._router ?? parts.router)?.stack ?? []
  const at = stack.findIndex(({ handle }) => handle === handler)
  const isRoute = ({ handle, route }: Layer) => route !== undefined || 'stack' in handle
  const after = stack.slice(at + 1).filter(({ handle }) => handle.length < 4)
  if (at >= 0 && after.length === 0 && stack.slice(0, at).some(isRoute)) warnAfterRoutes()
}

export default rateLimit
