import { type Limiter, type MaybePromise, SluiceError } from '@sluice/core'
import {
  CONCURRENCY_OPTIONS,
  checkKnown,
  checkObject,
  OPTION_NAMES,
  routeScope,
  type Scope,
  WINDOW_OPTIONS,
} from '@sluice/core/internal'
import type { LimitMethods } from '../methods.ts'
import { checkLimitOptions } from '../options/check-limit-options.ts'
import type { RateLimitOptions } from '../options/options.generated.ts'
import type { RouteOverrides, Routes } from '../options/rate-limit-options.ts'
import type { RequestAdapter } from '../request-adapter.ts'
import { HttpLimiter } from './http-limiter.ts'
import { otherReadings } from './path-readings.ts'
import { RouteTable } from './route-table.ts'

const noLimiters: readonly never[] = []

/** A limiter for all requests, and one for each route that differs. */
export class RoutedLimiter<Request, Response> {
  /** Decides the requests whose route does not differ. */
  readonly base: HttpLimiter<Request, Response>
  /** Each of them. */
  readonly httpLimiters = new Set<HttpLimiter<Request, Response>>()
  /** All limiters as one, for the application's own calls. */
  readonly limiter: Limiter
  /** Lets each limiter of a request's route decide, one after the other; see `HttpLimiter.handle`. */
  readonly handle: (request: Request, response: Response, subject?: object) => MaybePromise<boolean>
  readonly #adapter: RequestAdapter<Request, Response>
  readonly #everywhere: readonly HttpLimiter<Request, Response>[]
  readonly #routes: RouteTable<readonly HttpLimiter<Request, Response>[]> | undefined

  /**
   * @param addsRoutes whether the framework tells routes apart by itself and adds them: then there is no
   *   option `routes`
   * @param scope separates its keys from those of other limiters on the same store
   * @throws SluiceError for wrong options, and for routes that can't match
   */
  constructor(
    options: RateLimitOptions<Request, Response> & { routes?: Routes<Request, Response> },
    adapter: RequestAdapter<Request, Response>,
    { addsRoutes = false, scope }: { addsRoutes?: boolean; scope?: Scope } = {},
  ) {
    const given = checkLimitOptions(options)
    const { routes, ...rest } = given as { routes?: Routes<Request, Response> }
    const common = addsRoutes ? given : rest
    this.#adapter = adapter
    const shared = common as RateLimitOptions<Request, Response>
    const { httpLimiters } = this
    this.base = new HttpLimiter(shared, adapter, scope, undefined, undefined, httpLimiters)
    httpLimiters.add(this.base)
    this.#everywhere = [this.base]
    this.limiter = this.base.limiter
    this.handle = this.base.handle.bind(this.base)
    if (addsRoutes || routes === undefined) return
    this.handle = (request, response, subject) =>
      passAll(this.of(request), 0, request, response, subject)
    const entries = Object.entries(
      checkObject('routes', routes, 'an object of routes') as Routes<Request, Response>,
    )
    this.#routes = new RouteTable(
      entries.map(([route, overrides]) => {
        const httpLimiter = this.add(route, `routes['${route}']`, overrides)
        return [route, httpLimiter === undefined ? [] : [httpLimiter]]
      }),
    )
  }

  /** Whether one of them settles or releases something, so that responses are watched. */
  get settles(): boolean {
    for (const { compiled } of this.httpLimiters) if (compiled.followsUp) return true
    return false
  }

  /**
   * Answers a request with what its client has used of each policy, as JSON, or as a page for a browser. Charges
   * nothing. Rejects with what a function of the options throws.
   * @param send sends a body, whose status and other fields are set. Default: the adapter's
   */
  async usage(
    request: Request,
    response: Response,
    send?: (response: Response, body: string, mediaType: string) => unknown,
  ): Promise<void> {
    const adapter = this.#adapter
    const { httpLimiters } = this
    const { usageOf } = await import('../usage/usage.ts')
    const { usageReply } = await import('../usage/usage-reply.ts')
    const usage = await usageOf(httpLimiters, request)
    if (usage === undefined) return adapter.abandon?.(response)
    const { status, mediaType, body } = usageReply(usage, adapter.header(request, 'accept'))
    adapter.setField(response, 'Cache-Control', 'no-store')
    adapter.setField(response, 'Vary', 'Accept')
    adapter.setStatus(response, status)
    if (send === undefined) adapter.send(response, body, mediaType, neverThrown)
    else send(response, body, mediaType)
  }

  readonly openapi: LimitMethods['openapi'] = async (document) => {
    const { describeLimits } = await loadDescription()
    return describeLimits(document, (method, path, other) => {
      const found = this.#routes?.find(method, path, other)?.value ?? this.#everywhere
      return found[0]?.compiled
    })
  }

  /**
   * Makes the limiter of a route: the base's options with some replaced, on the same store.
   *
   * @param route its name, part of its keys if it has its own limit: a path, perhaps after a method
   * @param path where its options are, for messages: `routes['POST /login']`
   * @param apart whether it counts separately in any case
   * @returns undefined for `false`: the route is exempt
   * @throws SluiceError for wrong options, in which it names the route
   */
  add(
    route: string,
    path: string,
    overrides: RouteOverrides<Request, Response> | false,
    apart = false,
  ): HttpLimiter<Request, Response> | undefined {
    if (overrides === false) return undefined
    checkKnown(path, checkObject(path, overrides, 'options, or false'), OPTION_NAMES.route)
    const { limiter, options: inherited, scope } = this.base
    const named = Object.entries(overrides).filter(([, value]) => value !== undefined)
    const names = (options: readonly string[]) => named.some(([name]) => options.includes(name))
    const single = names(OPTION_NAMES.onlyPolicy)
    const several = names(['policies'])
    const isApart = apart || single || several
    const options: Record<string, unknown> = { ...inherited, store: limiter.store }
    const remove = (replaced: readonly string[]) => {
      for (const option of replaced) delete options[option]
    }
    if (single) remove(['policies'])
    if (several) remove(OPTION_NAMES.onlyPolicy)
    // A route counts per window or at the same time, whatever the limiter does elsewhere.
    const reserve = names(['reserve']) ? overrides.reserve : options.reserve
    const isConcurrent = names(['concurrent']) || (names(['hold']) && reserve !== true)
    if (isConcurrent) remove(WINDOW_OPTIONS)
    else if (single) remove(reserve === true ? ['concurrent'] : CONCURRENCY_OPTIONS)
    try {
      const httpLimiter = new HttpLimiter(
        { ...options, ...Object.fromEntries(named) } as RateLimitOptions<Request, Response>,
        this.#adapter,
        isApart ? routeScope(scope, route) : scope,
        route.match(/\/.*/)?.[0],
        limiter.bannedQuota,
        undefined,
        isApart ? route : undefined,
      )
      // A meter may be attached before a route is added.
      httpLimiter.limiter.events.onCharge = limiter.events.onCharge
      this.httpLimiters.add(httpLimiter)
      return httpLimiter
    } catch (error) {
      if (!(error instanceof SluiceError)) throw error
      const { code, expected, received, fix } = error
      const option = `${path}.${error.option}`
      throw new SluiceError({ code, option, expected, said: received, fix })
    }
  }

  /**
   * The limiters that a request must pass, in this order; none if its route is exempt. There are
   * several if the application decides which of several routes this spelling of the path reaches:
   * the request must neither evade the limit of one nor get the looser limit of another.
   */
  of(request: Request): readonly HttpLimiter<Request, Response>[] {
    const adapter = this.#adapter
    const routes = this.#routes
    if (routes === undefined) return this.#everywhere
    const method = adapter.method(request)
    // Node passes on what the client wrote, which may have no path.
    const path = adapter.path(request) ?? ''
    const other = adapter.otherPath?.(request)
    const written = routes.match(method, path, adapter.routing?.(request), other)?.value
    const strictly = written ?? this.#everywhere
    // A router mounted within the application may compare paths in its own way.
    const loose = routes.match(method, path, undefined, other)?.value
    if (loose === undefined) routes.missed(method, path)
    const loosely = loose ?? strictly
    const readings = otherReadings(path, other)
    if (readings === undefined && loosely === strictly) return strictly
    const others = readings?.map(
      (each) =>
        routes.match(method, each.path)?.value ??
        (each.isEquivalent ? this.#everywhere : noLimiters),
    )
    return [...new Set([...(others ?? []).flat(), ...loosely, ...strictly])]
  }
}

/** What describes limits in OpenAPI documents, which few applications need. */
export const loadDescription = () => import('../openapi/describe-limits.ts')

/** Stands for the error of a refusal, which usage is not. */
function neverThrown(): never {
  throw new TypeError('usage is no refusal')
}

/** @param from the index of the first limiter that the request has not passed yet */
function passAll<Request, Response>(
  limiters: readonly HttpLimiter<Request, Response>[],
  from: number,
  request: Request,
  response: Response,
  subject: object | undefined,
): MaybePromise<boolean> {
  for (const [i, limiter] of limiters.entries()) {
    if (i < from) continue
    const passed = limiter.handle(request, response, subject)
    if (passed instanceof Promise)
      return passed.then((goesOn) => goesOn && passAll(limiters, i + 1, request, response, subject))
    if (!passed) return false
  }
  return true
}
