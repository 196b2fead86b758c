import { type Limiter, SluiceError } from '@sluice/core'
import { readAdapterOption } from '@sluice/core/internal'
import type { RouteOverrides } from '@sluice/http'
import type { HttpLimiter, RoutedLimiter } from '@sluice/http/adapter'
import type { FastifyContextConfig, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import { type DescribedRoute, describer, type TransformObject } from './describe-routes.ts'
import { type Hook, type HookHandler, handler } from './hook.ts'

/** The limiter of a plugin. */
export interface FastifyLimiter extends Limiter {
  /**
   * A hook that adds a limit: to one route, to several routes that then share it, or to the
   * not-found handler. It has the plugin's options except those given here, and counts separately.
   *
   * @throws SluiceError for invalid options
   */
  hook(options?: RouteOverrides<FastifyRequest, FastifyReply>): HookHandler
  /**
   * A handler that responds with what the client has used of each policy, without charging it. Set
   * `config: { rateLimit: false }` on its route.
   */
  usage(): (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>
  /**
   * The option `transformObject` of `@fastify/swagger`: describes the limits of the routes that are
   * added after the plugin. Call it before the application is ready.
   */
  openapi(): TransformObject
}

type RouteLimiter = HttpLimiter<FastifyRequest, FastifyReply>

/** The limiter of a route, and its hook. */
interface Mark {
  /** Undefined: the route is exempt. */
  readonly httpLimiter: RouteLimiter | undefined
  readonly hook: Hook
}

type Config = FastifyContextConfig & { [mark: symbol]: Mark | undefined }

/** The limiters of the routes whose `config.rateLimit` differs from the plugin's options. */
export class RouteLimiters {
  /** The limiters of all routes and the plugin's as one, for the application's own calls. */
  readonly limiter: FastifyLimiter
  readonly #all: RoutedLimiter<FastifyRequest, FastifyReply>
  readonly #hook: Hook
  #hooks = 0
  /** The name of a route's own entry in its config, separate for each registered plugin. */
  readonly #mark = Symbol('sluice.limiter')
  /** The limiter of routes without an entry. */
  readonly #base: Mark
  /** The entry of the route that a request has reached first. */
  readonly #reached = new WeakMap<FastifyRequest, Mark>()
  /** Every route that has been added. */
  readonly #routes: DescribedRoute[] = []

  /**
   * @param hook the hook in which requests are decided, unless their route has another
   * @param beforeReady lets the application be ready when the function's promise is fulfilled
   */
  constructor(
    all: RoutedLimiter<FastifyRequest, FastifyReply>,
    hook: Hook,
    beforeReady: (load: () => Promise<void>) => void,
  ) {
    this.#all = all
    this.#hook = hook
    this.#base = { httpLimiter: all.base, hook }
    this.limiter = Object.assign(this.#all.limiter, {
      hook: (options = {}) => this.#addHook(options),
      usage: () => async (request: FastifyRequest, reply: FastifyReply) => {
        await all.usage(request, reply)
        return reply
      },
      openapi: () => describer(this.#routes, beforeReady),
    })
  }

  /**
   * Gives a route its limiter. Called with each route as it is registered.
   * @throws SluiceError for invalid options
   */
  add(route: RouteOptions): void {
    const own = route.config?.rateLimit !== undefined
    const mark = own ? this.#compile(route.config ?? {}, route.method, route.url) : this.#base
    this.#routes.push({ methods: [route.method].flat(), url: route.url, limiter: mark.httpLimiter })
    if (!own) return
    // A config may be shared by several routes, so it is left as it is.
    route.config = { ...route.config, [this.#mark]: mark }
    if (mark.hook === this.#hook) return
    const decide = handler((request) => this.of(request, mark.hook)) as never
    route[mark.hook] = [decide, ...[route[mark.hook] ?? []].flat()]
  }

  /** The limiter that decides a request in a hook; undefined if none does. */
  of(request: FastifyRequest, hook: Hook): RouteLimiter | undefined {
    const mark = this.#reached.get(request) ?? this.#markOf(request)
    // A request that becomes a 404 gets another route, whose `preHandler` hooks run too.
    if (this.#hook === 'preHandler') this.#reached.set(request, mark)
    return mark.hook === hook ? mark.httpLimiter : undefined
  }

  #markOf({ routeOptions }: FastifyRequest): Mark {
    const config = routeOptions.config as unknown as Config & { method?: string; url?: string }
    if (config.rateLimit === undefined) return this.#base
    const known = config[this.#mark]
    if (known !== undefined) return known
    // A route registered before the plugin, or the handler for unknown routes.
    const mark = this.#compile(config, config.method, config.url)
    if (mark.hook !== this.#hook) throw tooLate(mark.hook)
    config[this.#mark] = mark
    return mark
  }

  #compile(
    { rateLimit = {} }: FastifyContextConfig,
    methods: string | readonly string[] = '',
    url = '',
  ): Mark {
    const name = routeName([methods].flat(), url)
    const path = `${name}: config.rateLimit`
    const hasOptions = typeof rateLimit === 'object' && !Array.isArray(rateLimit)
    const { hook = this.#hook, ...overrides } = hasOptions ? { ...rateLimit } : {}
    const options = hasOptions && rateLimit !== null ? overrides : rateLimit
    const httpLimiter = this.#all.add(name, path, options)
    return { httpLimiter, hook: readAdapterOption('hook', { hook }, path) }
  }

  /** Named by the order in which they are made, which is the same in each process. */
  #addHook(options: Parameters<FastifyLimiter['hook']>[0]): ReturnType<FastifyLimiter['hook']> {
    this.#hooks += 1
    const name = `hook ${this.#hooks}`
    const httpLimiter = this.#all.add(name, 'rateLimit.hook', options ?? {}, true)
    return handler(() => httpLimiter)
  }
}

function tooLate(hook: Hook): SluiceError {
  return new SluiceError({
    code: 'SLUICE_OPTION_CONFLICT',
    option: 'config.rateLimit.hook',
    expected: 'a route that is added after the plugin',
    received: hook,
    fix: 'Register the plugin before the route; for unknown routes, set app.rateLimit.hook(options) in setNotFoundHandler.',
  })
}

/**
 * The method that a route is counted by: no other route of its URL has it. HEAD is a GET without
 * the body, and counts as GET.
 */
function routeName(methods: readonly string[], url: string): string {
  const isGet = methods.includes('GET') || methods.includes('HEAD')
  return `${isGet ? 'GET' : [...methods].sort()[0]} ${url}`
}
