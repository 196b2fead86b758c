import { SluiceError } from '../errors/sluice-error.ts'
import { CONCURRENCY_OPTIONS, WINDOW_OPTIONS } from '../limiter/concurrency-options.ts'
import type { Limiter } from '../limiter/limiter.ts'
import { checkObject } from '../options/checks.ts'
import { checkKnown } from '../options/known.ts'
import { PLACES } from '../options/places.ts'
import { routeScope } from '../stores/inspection/scope.ts'
import { HttpLimiter } from './http-limiter.ts'
import { MiddlewareLimiter } from './middleware-limiter.ts'
import type { RateLimitOptions, RouteOverrides } from './rate-limit-options.ts'

/** The limiter of all requests, and those of the routes that differ. */
export class HttpLimiters<Request, Response> {
  readonly base: HttpLimiter<Request, Response>
  /** All of them together, for the application's own calls. */
  readonly limiter: Limiter
  /** Each of them. */
  readonly all: Set<HttpLimiter<Request, Response>>

  /** @param base decides the requests whose route does not differ */
  constructor(base: HttpLimiter<Request, Response>) {
    this.base = base
    this.all = new Set([base])
    this.limiter = new MiddlewareLimiter(base, this.all)
  }

  /** Whether one of them settles or releases something, so that responses are watched. */
  get settles(): boolean {
    return [...this.all].some(({ settles }) => settles)
  }

  /** Makes the limiter of a route: see `limiterOfRoute`. */
  add(
    route: string,
    path: string,
    overrides: RouteOverrides<Request, Response> | boolean,
    apart?: boolean,
  ): HttpLimiter<Request, Response> | undefined {
    const httpLimiter = limiterOfRoute(this.base, route, path, overrides, apart)
    if (httpLimiter !== undefined) this.all.add(httpLimiter)
    return httpLimiter
  }
}

/**
 * The limiter of a route: the base's options with some replaced, on the same store.
 *
 * @param route its name, part of its keys if it has its own limit: a path, perhaps after a method
 * @param path of its options in messages: `routes['POST /login']`
 * @param apart whether it counts separately in any case
 * @returns undefined for `false`: the route is exempt
 * @throws SluiceError for wrong options, in which it names the route
 */
export function limiterOfRoute<Request, Response>(
  base: HttpLimiter<Request, Response>,
  route: string,
  path: string,
  overrides: RouteOverrides<Request, Response> | boolean,
  apart = false,
): HttpLimiter<Request, Response> | undefined {
  if (overrides === false) return undefined
  checkKnown(path, checkObject(path, overrides, 'options, or false'), PLACES.route)
  const named = Object.fromEntries(
    Object.entries(overrides).filter(([, value]) => value !== undefined),
  )
  const options: Record<string, unknown> = { ...base.options, store: base.limiter.store }
  const single = PLACES.onlyPolicy.some((option) => option in named)
  if (single) delete options.policies
  // A route counts per window or at the same time, whatever the limiter does elsewhere.
  if (CONCURRENCY_OPTIONS.some((option) => option in named))
    for (const option of WINDOW_OPTIONS) delete options[option]
  else if (single) for (const option of CONCURRENCY_OPTIONS) delete options[option]
  if ('policies' in named) for (const option of PLACES.onlyPolicy) delete options[option]
  const own = apart || single || 'policies' in named
  try {
    return new HttpLimiter(
      { ...options, ...named } as unknown as RateLimitOptions<Request, Response>,
      base.adapter,
      own ? routeScope(base.scope, route) : base.scope,
      route.match(/\/.*/)?.[0],
      base.limiter.banPlace,
    )
  } catch (error) {
    if (!(error instanceof SluiceError)) throw error
    const { code, expected, received, fix } = error
    const option = `${path}.${error.option}`
    throw new SluiceError({ code, option, expected, said: received, fix })
  }
}
