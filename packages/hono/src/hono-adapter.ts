import type { MaybePromise } from '@sluice/core'
import { fetchExchange, type RequestAdapter } from '@sluice/http/adapter'
import type { Context, MiddlewareHandler } from 'hono'
import { basePath, matchedRoutes } from 'hono/route'
import { readAddress } from './address.ts'
import { HonoReply, isGone, pauseBody } from './hono-reply.ts'
import { RateLimitError } from './refusal-error.ts'

/**
 * Reads the contexts of Hono.
 *
 * @param options have `address`, or not
 * @throws SluiceError if that is not a function
 */
export function honoAdapter(options: object) {
  const given = readAddress<[Context]>(options)
  const address = given ?? (() => undefined)
  const adapter: RequestAdapter<Context, HonoReply> = {
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
  }
  return { adapter, knowsAddress: given !== undefined }
}

/** The middleware of a limiter of requests, or of load. */
export function middlewareOf(limiter: {
  handle(c: Context, reply: HonoReply): MaybePromise<boolean>
}): MiddlewareHandler {
  return async (c, next) => {
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
