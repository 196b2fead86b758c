import type { Limiter } from '../limiter/limiter.ts'
import type { MaybePromise } from '../maybe-promise.ts'
import { checkObject } from '../options/checks.ts'
import { HttpLimiter } from './http-limiter.ts'
import { HttpLimiters } from './http-limiters.ts'
import { otherReadings } from './path-readings.ts'
import type { RateLimitOptions, Routes } from './rate-limit-options.ts'
import type { RequestAdapter } from './request-adapter.ts'
import { RouteTable } from './route-table.ts'

const NONE: readonly never[] = []

/** A limiter for all requests, and one for each route that differs. */
export class RoutedLimiter<Request, Response> {
  readonly base: HttpLimiter<Request, Response>
  /** All of them together, for the application's own calls. */
  readonly limiter: Limiter
  /** Each of them. */
  readonly httpLimiters: Iterable<HttpLimiter<Request, Response>>
  /** Whether one of them settles or releases something, so that responses are watched. */
  readonly settles: boolean
  private readonly adapter: RequestAdapter<Request, Response>
  private readonly everywhere: readonly HttpLimiter<Request, Response>[]
  private readonly routes: RouteTable<readonly HttpLimiter<Request, Response>[]> | undefined

  /** @throws SluiceError for wrong options, and for routes that can't match */
  constructor(
    options: RateLimitOptions<Request, Response> & { routes?: Routes<Request, Response> },
    adapter: RequestAdapter<Request, Response>,
  ) {
    const { routes, ...rest } = checkObject('options', options, 'the options of a rate limit') as {
      routes?: Routes<Request, Response>
    }
    this.adapter = adapter
    this.base = new HttpLimiter(rest as RateLimitOptions<Request, Response>, adapter)
    this.everywhere = [this.base]
    const httpLimiters = new HttpLimiters(this.base)
    this.limiter = httpLimiters.limiter
    this.routes = compileRoutes(httpLimiters, routes)
    this.httpLimiters = httpLimiters.all
    this.settles = httpLimiters.settles
  }

  /**
   * Lets each limiter of a request's route decide, one after the other; see `HttpLimiter.handle`.
   */
  handle<T>(
    request: Request,
    response: Response,
    goOn: () => MaybePromise<T>,
  ): MaybePromise<T | undefined> {
    return pass(this.of(request), 0, request, response, goOn)
  }

  /**
   * The limiters that a request must pass, in this order; none if its route is exempt. There are
   * several if the application decides which of several routes this spelling of the path reaches:
   * the request must neither evade the limit of one nor get the looser limit of another.
   */
  of(request: Request): readonly HttpLimiter<Request, Response>[] {
    const { adapter, routes } = this
    if (routes === undefined) return this.everywhere
    const method = adapter.method(request)
    // Node passes on what the client wrote, which may have no path.
    const path = adapter.path(request) ?? ''
    const written = routes.match(method, path, adapter.routing?.(request))?.value
    const strictly = written ?? this.everywhere
    // A router mounted within the application may compare paths in its own way.
    const loosely = routes.match(method, path)?.value ?? strictly
    const readings = otherReadings(path)
    if (readings === undefined && loosely === strictly) return strictly
    const others = readings?.map(
      (each) =>
        routes.match(method, each.path)?.value ?? (each.isEquivalent ? this.everywhere : NONE),
    )
    return [...new Set([...(others ?? []).flat(), ...loosely, ...strictly])]
  }
}

/** @param next the index of the first limiter that the request has not passed yet */
function pass<Request, Response, T>(
  limiters: readonly HttpLimiter<Request, Response>[],
  next: number,
  request: Request,
  response: Response,
  goOn: () => MaybePromise<T>,
): MaybePromise<T | undefined> {
  const limiter = limiters[next]
  if (limiter === undefined) return goOn()
  if (next === limiters.length - 1) return limiter.handle(request, response, goOn)
  return limiter.handle(request, response, () => pass(limiters, next + 1, request, response, goOn))
}

function compileRoutes<Request, Response>(
  httpLimiters: HttpLimiters<Request, Response>,
  routes: unknown,
): RouteTable<readonly HttpLimiter<Request, Response>[]> | undefined {
  if (routes === undefined) return undefined
  const entries = Object.entries(checkObject('routes', routes, 'an object of routes') as never)
  return new RouteTable(
    entries.map(([route, overrides]) => {
      const httpLimiter = httpLimiters.add(route, `routes['${route}']`, overrides as never)
      return [route, httpLimiter === undefined ? [] : [httpLimiter]]
    }),
  )
}
