import type { Decision } from '@sluice/core'
import { FetchReply, fetchExchange, type RequestAdapter } from '@sluice/http/adapter'
import { readAddress } from './address.ts'
import { RateLimitError } from './refusal-error.ts'

/** The context of runtimes that drop work which a request leaves behind: Cloudflare's, Vercel's and Netlify's. */
interface Runtime {
  waitUntil(promise: Promise<unknown>): void
}

const decisions = new WeakMap<Request, Decision | undefined>()

/** The decision of the last limiter on a request; undefined if the request was exempt. */
export function decisionOf(request: Request): Decision | undefined {
  return decisions.get(request)
}

/**
 * Reads the requests of a Fetch handler.
 *
 * @param options have `address`, or not
 * @throws SluiceError if that is not a function
 */
export function fetchAdapter<Args extends unknown[], R extends Request>(options: object) {
  const given = readAddress<[R, ...Args]>(options)
  const args = new WeakMap<R, Args>()
  const address = (request: R) => given?.(request, ...(args.get(request) as Args))
  const adapter: RequestAdapter<R, FetchReply> = {
    ...fetchExchange((request) => request, address),
    address,
    proxyTrust: () => 'nobody',
    user: () => undefined,
    path: ({ url }) => new URL(url).pathname,
    routing: () => ({ caseSensitive: true, strict: true }),
    decided: (request, decision) => decisions.set(request, decision),
    waitUntil: (request, promise) => runtimeOf(args.get(request))?.waitUntil(promise),
    toThrown: (...given) => new RateLimitError(...given),
  }
  /** @param others what the server has passed beside the request */
  const replyTo = (request: R, others: Args) => {
    const reply = new FetchReply(request)
    args.set(request, others)
    return reply
  }
  return { adapter, replyTo, knowsAddress: given !== undefined }
}

function runtimeOf(args: readonly unknown[] = []): Runtime | undefined {
  return args.find((arg): arg is Runtime => typeof (arg as Runtime)?.waitUntil === 'function')
}
