import type { Decision } from '@sluice/core'
import type {
  RateLimitOptions as CoreOptions,
  FetchReply,
  MiddlewareMethods,
  Routes,
} from '@sluice/http'
import { checkLimitOptions, RoutedLimiter } from '@sluice/http/adapter'
import type { Context, Env, Handler, MiddlewareHandler } from 'hono'
import { type AddressOption, checkClients } from './address.ts'
import { honoAdapter, middlewareOf } from './hono-adapter.ts'
import { HonoReply } from './hono-reply.ts'

export * from '@sluice/http'
export { decisionOf } from './fetch-adapter.ts'
export { type LimitedFetch, type LimitFetchOptions, limitFetch } from './limit-fetch.ts'
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
  const { adapter, knowsAddress } = honoAdapter(options)
  const { address: _, ...rest } = options as RateLimitOptions
  const limiter = new RoutedLimiter<Context, HonoReply>(rest, adapter)
  if (!knowsAddress) checkClients(limiter.httpLimiters)
  const usage = (): Handler => async (c) => {
    const reply = new HonoReply(c)
    await limiter.usage(c, reply)
    return reply.response as Response
  }
  return Object.assign(middlewareOf(limiter), {
    limiter: limiter.limiter,
    usage,
    openapi: limiter.openapi,
  })
}

export default rateLimit
