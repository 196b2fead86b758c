import type { Decision } from '@sluice/core'
import { checkFunction } from '@sluice/core/internal'
import type {
  RateLimitOptions as CoreOptions,
  FetchReply,
  LimitMethods,
  Routes,
} from '@sluice/http'
import {
  checkLimitOptions,
  fetchExchange,
  FetchReply as Reply,
  RoutedLimiter,
} from '@sluice/http/adapter'
import { checkClients, readAddress } from './address.ts'
import { RateLimitError } from './refusal-error.ts'

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

const decisions = new WeakMap<Request, Decision | undefined>()

/** The context of runtimes that drop work which a request leaves behind: Cloudflare's, Vercel's and Netlify's. */
interface Runtime {
  waitUntil(promise: Promise<unknown>): void
}

function runtimeOf(args: readonly unknown[] = []): Runtime | undefined {
  return args.find((arg): arg is Runtime => typeof (arg as Runtime)?.waitUntil === 'function')
}

/** The decision of the last limiter on a request; undefined if the request was exempt. */
export function decisionOf(request: Request): Decision | undefined {
  return decisions.get(request)
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
  const given = readAddress<[R, ...Args]>(options)
  const args = new WeakMap<R, Args>()
  const address = (request: R) => given?.(request, ...(args.get(request) as Args))
  const limiter = new RoutedLimiter<R, Reply>(rest, {
    ...fetchExchange((request) => request, address),
    address,
    proxyTrust: () => 'nobody',
    user: () => undefined,
    path: ({ url }) => new URL(url).pathname,
    routing: () => ({ caseSensitive: true, strict: true }),
    decided: (request, decision) => decisions.set(request, decision),
    waitUntil: (request, promise) => runtimeOf(args.get(request))?.waitUntil(promise),
    toThrown: (...given) => new RateLimitError(...given),
  })
  if (given === undefined) checkClients(limiter.httpLimiters)
  const limited = async (request: R, ...others: Args): Promise<Response> => {
    const reply = new Reply(request)
    args.set(request, others)
    // Each call counts, of the same request too.
    if (await limiter.handle(request, reply, reply))
      await reply.answerWith(() => handler(request, ...others))
    return reply.response as Response
  }
  const usage = async (request: R, ...others: Args): Promise<Response> => {
    const reply = new Reply(request)
    args.set(request, others)
    await limiter.usage(request, reply)
    return reply.response as Response
  }
  return Object.assign(limited, { limiter: limiter.limiter, usage, openapi: limiter.openapi })
}
