import { SluiceError } from '../errors/sluice-error.ts'
import { CONCURRENCY_OPTIONS, WINDOW_OPTIONS } from '../limiter/concurrency-options.ts'
import { checkObject } from '../options/checks.ts'
import { checkKnown } from '../options/known.ts'
import { PLACES } from '../options/places.ts'
import { routeScope } from '../stores/inspection/scope.ts'
import { HttpLimiter } from './http-limiter.ts'
import type { RateLimitOptions, RouteOverrides } from './rate-limit-options.ts'

/**
 * The limiter of a route: the base's options with some replaced, on the same store.
 *
 * @param route its name, part of its keys if it has its own limit: a path, perhaps after a method
 * @param path where its options are, for messages: `routes['POST /login']`
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
