import { checkFunction } from '@sluice/core/internal'
import type {
  RateLimitOptions as CoreOptions,
  FetchReply,
  LimitMethods,
  Routes,
} from '@sluice/http'
import { checkLimitOptions, RoutedLimiter } from '@sluice/http/adapter'
import { checkClients } from './address.ts'
import { fetchAdapter } from './fetch-adapter.ts'

export interface LimitFetchOptions<Args extends unknown[] = unknown[], R extends Request = Request>
  extends CoreOptions<R, FetchReply> {
  /**
   * Returns the client's address, from what the server passes to the handler. Required unless a
   * `key` function or `trustProxy` identifies the client.
   */
  address?: ((request: R, ...others: Args) => string | undefined) | undefined
  /** Options that differ by route, with the path of the request's URL. */
  routes?: Routes<R, FetchReply> | undefined
}

/** The limited handler, and its limiter for your own calls. */
export type LimitedFetch<Args extends unknown[], R extends Request = Request> = ((
  request: R,
  ...args: Args
) => Promise<Response>) &
  LimitMethods & {
    /** Responds with what the client has used of each policy, without charging it. */
    usage(request: R, ...args: Args): Promise<Response>
  }

/**
 * Limits a Fetch handler: a Next.js route handler, or the `fetch` of Bun, Deno or a worker. The
 * request can be the server's own type, such as `NextRequest`. If an option's function throws, the
 * handler rejects with that error.
 *
 * @throws SluiceError if an option is unknown, of the wrong type, out of range, or contradicts
 *   another, or if nothing identifies the client
 */
export function limitFetch<Args extends unknown[], R extends Request = Request>(
  options: LimitFetchOptions<Args, R>,
  handler: (request: R, ...others: Args) => Response | Promise<Response>,
): LimitedFetch<Args, R> {
  checkLimitOptions(options)
  checkFunction('handler', handler, '(request) => Response')
  const { address: _, ...rest } = options
  const { adapter, knowsAddress, replyTo } = fetchAdapter<Args, R>(options)
  const limiter = new RoutedLimiter<R, FetchReply>(rest, adapter)
  if (!knowsAddress) checkClients(limiter.httpLimiters)
  const limited = async (request: R, ...others: Args): Promise<Response> => {
    const reply = replyTo(request, others)
    // Each call counts, of the same request too.
    if (await limiter.handle(request, reply, reply))
      await reply.answerWith(() => handler(request, ...others))
    return reply.response as Response
  }
  const usage = async (request: R, ...others: Args): Promise<Response> => {
    const reply = replyTo(request, others)
    await limiter.usage(request, reply)
    return reply.response as Response
  }
  return Object.assign(limited, { limiter: limiter.limiter, usage, openapi: limiter.openapi })
}
