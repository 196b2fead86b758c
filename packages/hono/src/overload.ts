import { checkFunction } from '@sluice/core/internal'
import type { FetchReply } from '@sluice/http/adapter'
import { type ShedLoadOptions as CoreOptions, LoadShedder } from '@sluice/http/overload'
import type { Context, MiddlewareHandler } from 'hono'
import type { AddressOption } from './address.ts'
import { fetchAdapter } from './fetch-adapter.ts'
import { honoAdapter, middlewareOf } from './hono-adapter.ts'
import type { HonoReply } from './hono-reply.ts'

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
  const { adapter, knowsAddress } = honoAdapter(options)
  const given = withKey(options as ShedLoadOptions, knowsAddress)
  return middlewareOf(new LoadShedder<Context, HonoReply>(given, adapter))
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
  const { adapter, knowsAddress, replyTo } = fetchAdapter<Args, R>(options)
  const given = withKey(options as CoreOptions<R, string>, knowsAddress)
  const shedder = new LoadShedder<R, FetchReply>(given, adapter)
  return async (request, ...others) => {
    const reply = replyTo(request, others)
    if (await shedder.handle(request, reply))
      await reply.answerWith(() => handler(request, ...others))
    return reply.response as Response
  }
}

/** The options without the address. Where nothing says who a client is, all are one. */
function withKey<R>(
  { address: _, ...options }: CoreOptions<R, string> & { address?: unknown },
  knowsAddress: boolean,
): CoreOptions<R, string> {
  const isUntold = !knowsAddress && options.key === undefined && options.trustProxy === undefined
  return (isUntold ? { ...options, key: () => 'all' } : options) as CoreOptions<R, string>
}

export default shedLoad
