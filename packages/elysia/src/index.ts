import type { Decision } from '@sluice/core'
import { readAdapterOption } from '@sluice/core/internal'
import type {
  RateLimitOptions as CoreOptions,
  FetchReply,
  MiddlewareMethods,
  Routes,
} from '@sluice/http'
import { checkLimitOptions, fetchExchange, RoutedLimiter } from '@sluice/http/adapter'
import type { Context, Elysia } from 'elysia'
import { answering, ElysiaReply, type Facts } from './elysia-reply.ts'

export * from '@sluice/http'

/**
 * What the functions of the options get. The optional members are undefined in `onRequest`; `body` is
 * what the route itself has Elysia parse.
 *
 * @typeParam Derived what `derive` and `resolve` of the application add
 */
export type ElysiaContext<Derived extends object = object> = Facts & Partial<Context> & Derived

export interface RateLimitOptions<Derived extends object = object>
  extends CoreOptions<ElysiaContext<Derived>, FetchReply> {
  /**
   * Decides in `onBeforeHandle`, with what `derive` and `resolve` add, for the routes of the instance that uses the
   * plugin and are added after it (`'scoped'`), or for those of all instances (`'global'`). Default: in
   * `onRequest`, for all requests, before the body is read.
   */
  as?: 'scoped' | 'global' | undefined
  /** Returns the client's address. Default: from Bun's server, or @elysiajs/node. Required on other runtimes. */
  address?: ((c: ElysiaContext<Derived>) => string | undefined) | undefined
  /**
   * Options that differ by route, in the pattern syntax of path-to-regexp 8. Paths are whole:
   * `{ 'POST /login': { limit: 5, window: '15m' }, '/health': false }`. The most specific entry wins,
   * and an entry with a method wins over one without.
   */
  routes?: Routes<ElysiaContext<Derived>, FetchReply> | undefined
}

const decorated = (app: Elysia) => app.decorate('rateLimit', undefined as Decision | undefined)

/**
 * The plugin, and its limiter for your own calls. In handlers, `rateLimit` is the decision of the last limiter;
 * undefined if the request was exempt.
 */
export type RateLimitPlugin = typeof decorated &
  MiddlewareMethods<(c: ElysiaContext) => Promise<Response>>

/**
 * Limits the rate of requests: `app.use(rateLimit({ limit: 100, window: '1m' }))`. A second limiter
 * on a route adds a limit; the same one, used twice, counts a request once.
 *
 * @throws SluiceError if an option is unknown, of the wrong type, out of range, or contradicts another
 */
export function rateLimit<Derived extends object = object>(
  options: RateLimitOptions<Derived>,
): RateLimitPlugin {
  checkLimitOptions(options)
  const { as: _, address: __, ...rest } = options as RateLimitOptions
  const as = readAdapterOption('as', options)
  const address = (readAdapterOption('address', options) as RateLimitOptions['address']) ?? peer
  const limiter = new RoutedLimiter<ElysiaContext, ElysiaReply>(rest, {
    ...fetchExchange((c) => c.request, address),
    address,
    // An application may get the same request several times.
    identity: (c) => c,
    proxyTrust: () => 'nobody',
    user: (c) => (c as { user?: unknown }).user,
    // Elysia finds its own path wrong if the host has one letter, but Bun routes such a request.
    path: (c) => new URL(c.request.url).pathname,
    routing: () => ({ caseSensitive: true, strict: false }),
    route: (c) => c.route,
    decided: (c, decision) => Object.assign(c, { rateLimit: decision }),
  })
  const plugin = (app: Elysia) => {
    const decide = async (c: ElysiaContext): Promise<Response | undefined> => {
      // Elysia leaves it out of some contexts in groups.
      if (c.server === undefined)
        c.server = (app as unknown as { getServer(): ElysiaContext['server'] }).getServer()
      try {
        const reply = new ElysiaReply(c)
        reply.await(as === undefined || limiter.settles)
        return (await limiter.handle(c, reply)) ? undefined : reply.response
      } catch (error) {
        // What onRequest throws is a 200 otherwise.
        c.set.status = 500
        throw error
      }
    }
    app.wrap(answering as never)
    const hook = reading(as === undefined ? '' : ', headers, query, cookie', decide) as never
    if (as === undefined) app.onRequest(hook)
    else app.onBeforeHandle({ as: as === 'global' ? as : 'local' }, hook)
    return decorated(app)
  }
  return Object.assign(plugin, {
    limiter: limiter.limiter,
    usage: () => async (c: ElysiaContext) => {
      const reply = new ElysiaReply(c)
      await limiter.usage(c, reply)
      return reply.response as Response
    },
    openapi: limiter.openapi,
  })
}

/** The address of the connection: @elysiajs/node has it on the request. */
function peer({ request, server }: ElysiaContext): string | undefined {
  return (request as { ip?: string }).ip ?? server?.requestIP(request)?.address
}

/**
 * Elysia reads in the source of a hook which parts of the context it has to make. The body is not among them: a
 * route may read it as a stream.
 */
function reading(more: string, hook: object): object {
  return Object.assign(hook, {
    toString: () => `async ({ server, set, path, route${more} }) => { return }`,
  })
}

export default rateLimit
