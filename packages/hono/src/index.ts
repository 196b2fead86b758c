import type { Decision } from '@sluice/core'
import type {
  RateLimitOptions as CoreOptions,
  FetchReply,
  MiddlewareMethods,
  Routes,
} from '@sluice/http'
import { checkLimitOptions, fetchExchange, RoutedLimiter } from '@sluice/http/adapter'
import type { Context, Env, Handler, MiddlewareHandler } from 'hono'
import { basePath, matchedRoutes } from 'hono/route'
import { type AddressOption, checkClients, readAddress } from './address.ts'
import { HonoReply, isGone, pauseBody } from './hono-reply.ts'
import { RateLimitError } from './refusal-error.ts'

export * from '@sluice/http'
export { decisionOf, type LimitedFetch, type LimitFetchOptions, limitFetch } from './limit-fetch.ts'
export { RateLimitError } from './refusal-error.ts'

/** @typeParam E the variables and bindings of the application */
// biome-ignore lint/suspicious/noExplicitAny: the default of Hono's own Context
export interface RateLimitOptions<E extends Env = any> extends CoreOptions<Context<E>, FetchReply> {
  /**
   * Returns the client's address, from the runtime: `(c) => getConnInfo(c).remote.address`.
   * Required unless a `key` function or `trustProxy` identifies the client.
   */
  address?: AddressOption<[c: Context<E>]> | undefined
  /**
   * Options that differ by route, in the pattern syntax of path-to-regexp 8. Paths are whole, or
   * relative to the base path: `{ 'POST /login': { limit: 5, window: '15m' }, '/health': false }`.
   * The most specific entry wins, and an entry with a method wins over one without.
   */
  routes?: Routes<Context<E>, FetchReply> | undefined
}

/** The middleware, and its limiter for your own calls. */
export type RateLimitHandler = MiddlewareHandler & MiddlewareMethods<Handler>

declare module 'hono' {
  interface ContextVariableMap {
    /** The decision of the last limiter; undefined if the request was exempt. */
    rateLimit?: Decision
  }
}

/**
 * Limits the rate of requests: `app.use(rateLimit({ limit: 100, window: '1m', address }))`. A
 * second limiter on a route adds a limit.
 *
 * @throws SluiceError if an option is unknown, of the wrong type, out of range, or contradicts
 *   another, or if nothing identifies the client
 */
// biome-ignore lint/suspicious/noExplicitAny: as above
export function rateLimit<E extends Env = any>(options: RateLimitOptions<E>): RateLimitHandler {
  checkLimitOptions(options)
  const given = readAddress<[Context]>(options)
  const address = given ?? (() => undefined)
  const { address: _, ...rest } = options as RateLimitOptions
  const limiter = new RoutedLimiter<Context, HonoReply>(rest, {
    ...fetchExchange((c) => c.req.raw, address),
    address,
    isGone,
    pauseBody,
    // Middleware may replace the request, and an application may get the same one several times.
    identity: (c) => c,
    proxyTrust: () => 'nobody',
    user: (c) => c.get('user') ?? c.get('jwtPayload'),
    path: (c) => c.req.path,
    otherPath: (c) => c.req.path.slice(basePath(c).replace(/\/$/, '').length) || undefined,
    routing: () => ({ caseSensitive: true, strict: true }),
    // Hono knows all that will handle a request before the first of them runs. Middleware, which may
    // come last, is for all methods.
    route: (c) => matchedRoutes(c).findLast(({ method }) => method !== 'ALL')?.path,
    decided: (c, decision) => c.set('rateLimit', decision),
    waitUntil: (c, promise) => runtimeOf(c)?.waitUntil(promise),
    toThrown: (...given) => new RateLimitError(...given),
  })
  if (given === undefined) checkClients(limiter.httpLimiters)
  const middleware: MiddlewareHandler = async (c, next) => {
    const reply = new HonoReply(c)
    const passed = limiter.handle(c, reply)
    if (passed !== true && !(await passed)) return
    try {
      await next()
      const answered = reply.answered()
      if (answered !== undefined) await answered
    } catch (error) {
      reply.failed()
      throw error
    }
  }
  const usage = (): Handler => async (c) => {
    const reply = new HonoReply(c)
    await limiter.usage(c, reply)
    return reply.response as Response
  }
  return Object.assign(middleware, { limiter: limiter.limiter, usage, openapi: limiter.openapi })
}

/** The context of a runtime that drops work which a request leaves behind. */
function runtimeOf(c: Context): Context['executionCtx'] | undefined {
  try {
    return c.executionCtx
  } catch {
    // There is none on Node.
    return undefined
  }
}

export default rateLimit
