import { checkFunction } from '@sluice/core/internal'
import { FetchReply, fetchExchange, type RequestAdapter } from '@sluice/http/adapter'
import { type ShedLoadOptions as CoreOptions, LoadShedder } from '@sluice/http/overload'
import type { Context, MiddlewareHandler } from 'hono'
import { matchedRoutes } from 'hono/route'
import { type AddressOption, readAddress } from './address.ts'
import { HonoReply, pauseBody } from './hono-reply.ts'

export type { ClassOptions, OverloadEvent, QueueOptions } from '@sluice/http/overload'

export type ShedLoadOptions<Class extends string = string> = CoreOptions<Context, Class> & {
  /**
   * The client's address, from the runtime: `(c) => getConnInfo(c).remote.address`. Without it, and without a `key`
   * function, requests of a class wait in the order in which they came, whoever sent them.
   */
  address?: AddressOption<[c: Context]> | undefined
}

export type ShedFetchOptions<
  Args extends unknown[] = unknown[],
  R extends Request = Request,
  Class extends string = string,
> = CoreOptions<R, Class> & {
  /** The client's address, from what the server passes to the handler. Without it, and without a `key`: as for `shedLoad`. */
  address?: ((request: R, ...others: Args) => string | undefined) | undefined
}

/**
 * Admits the requests that this process can serve, and refuses the others with 503, the least important first:
 * `app.use(shedLoad())`. Use it before everything else, also before `rateLimit`.
 *
 * @throws SluiceError if an option is unknown, of the wrong type, out of range, or contradicts another
 */
export function shedLoad<Class extends string = string>(
  options: ShedLoadOptions<Class> = {},
): MiddlewareHandler {
  const given = readAddress<[Context]>(options)
  const shedder = new LoadShedder<Context, HonoReply>(
    withKey(options as ShedLoadOptions, given),
    adapterWith(given ?? (() => undefined)),
  )
  return async (c, next) => {
    const reply = new HonoReply(c)
    const passed = shedder.handle(c, reply)
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

/**
 * Does what `shedLoad` does for a function of a `Request`: a route handler of Next.js, the `fetch` of Bun or Deno.
 * Wrap what `limitFetch` returns, so that it comes first. What a function of the options throws rejects, like what the
 * handler throws.
 *
 * @throws SluiceError if an option is unknown, of the wrong type, out of range, or contradicts another
 */
export function shedFetch<
  Args extends unknown[],
  R extends Request = Request,
  Class extends string = string,
>(
  options: ShedFetchOptions<Args, R, Class>,
  handler: (request: R, ...others: Args) => Response | Promise<Response>,
): (request: R, ...others: Args) => Promise<Response> {
  checkFunction('handler', handler, '(request) => Response')
  const given = readAddress<[R, ...Args]>(options)
  const args = new WeakMap<R, Args>()
  const address = (request: R) => given?.(request, ...(args.get(request) as Args))
  const shedder = new LoadShedder<R, FetchReply>(
    withKey(options as CoreOptions<R, string>, given),
    {
      ...fetchExchange((request) => request, address),
      address,
      proxyTrust: () => 'nobody',
      user: () => undefined,
      path: ({ url }) => new URL(url).pathname,
    } as RequestAdapter<R, FetchReply>,
  )
  return async (request, ...others) => {
    const reply = new FetchReply(request)
    args.set(request, others)
    if (await shedder.handle(request, reply))
      await reply.answerWith(() => handler(request, ...others))
    return reply.response as Response
  }
}

/** The options without the address. Where nothing says who a client is, all are one. */
function withKey<R>(
  { address: _, ...options }: CoreOptions<R, string> & { address?: unknown },
  given: unknown,
): CoreOptions<R, string> {
  const isUntold =
    given === undefined && options.key === undefined && options.trustProxy === undefined
  return (isUntold ? { ...options, key: () => 'all' } : options) as CoreOptions<R, string>
}

function adapterWith(address: AddressOption<[Context]>): RequestAdapter<Context, HonoReply> {
  return {
    ...fetchExchange((c) => c.req.raw, address),
    address,
    pauseBody,
    identity: (c) => c,
    proxyTrust: () => 'nobody',
    user: (c) => c.get('user') ?? c.get('jwtPayload'),
    path: (c) => c.req.path,
    route: (c) => matchedRoutes(c).findLast(({ method }) => method !== 'ALL')?.path,
  } as RequestAdapter<Context, HonoReply>
}

export default shedLoad
