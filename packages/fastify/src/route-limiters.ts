import type { Limiter } from '@sluice/core'
import { type HttpLimiter, limiterOfRoute, MiddlewareLimiter } from '@sluice/core/adapter'
import type { FastifyContextConfig, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'

type FastifyLimiter = HttpLimiter<FastifyRequest, FastifyReply>

/** Undefined within: the route is exempt. */
interface Mark {
  readonly httpLimiter: FastifyLimiter | undefined
}

type Config = FastifyContextConfig & { [mark: symbol]: Mark | undefined }

/** The limiters of the routes whose `config.rateLimit` differs from the plugin's options. */
export class RouteLimiters {
  /** Of all of them and the plugin's, for use by hand. */
  readonly limiter: Limiter
  private readonly base: FastifyLimiter
  private readonly all: Set<FastifyLimiter>
  /** In a route's config, where one plugin's limiter is apart from another's. */
  private readonly mark = Symbol('sluice.limiter')

  constructor(base: FastifyLimiter) {
    this.base = base
    this.all = new Set([base])
    this.limiter = new MiddlewareLimiter(base, this.all)
  }

  /**
   * To be called with each route as it is registered.
   * @throws SluiceError for wrong options
   */
  add(route: RouteOptions): void {
    if (route.config?.rateLimit === undefined) return
    const httpLimiter = this.compile(route.config, route.method, route.url)
    // A config may be shared by several routes, so it is left as it is.
    route.config = { ...route.config, [this.mark]: { httpLimiter } }
  }

  /** The limiter of a request; undefined if its route is exempt. */
  of({ routeOptions }: FastifyRequest): FastifyLimiter | undefined {
    const config = routeOptions.config as unknown as Config & { method?: string; url?: string }
    if (config.rateLimit === undefined) return this.base
    let mark = config[this.mark]
    if (mark === undefined) {
      // Registered before the plugin was, or no route: what answers where there is none.
      mark = { httpLimiter: this.compile(config, config.method, config.url) }
      config[this.mark] = mark
    }
    return mark.httpLimiter
  }

  private compile(
    { rateLimit = {} }: FastifyContextConfig,
    methods: string | readonly string[] = '',
    url = '',
  ): FastifyLimiter | undefined {
    const name = routeName([methods].flat(), url)
    const httpLimiter = limiterOfRoute(this.base, name, `${name}: config.rateLimit`, rateLimit)
    if (httpLimiter !== undefined) this.all.add(httpLimiter)
    return httpLimiter
  }
}

/**
 * What a route is counted by: one of its methods, which no other route of its URL has. HEAD is the
 * GET of a resource without its body, and counts as such.
 */
function routeName(methods: readonly string[], url: string): string {
  const isGet = methods.includes('GET') || methods.includes('HEAD')
  return `${isGet ? 'GET' : [...methods].sort()[0]} ${url}`
}
