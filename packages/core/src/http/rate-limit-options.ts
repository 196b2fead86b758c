import type { EitherPolicy } from '../limiter/concurrency-options.ts'
import type { PolicyOptions } from '../limiter/options.generated.ts'
import type {
  HttpOptions,
  RequestConcurrencyOptions,
  RequestPolicyOptions,
} from './options.generated.ts'

type AnyPolicy<Request, Response> = EitherPolicy<
  RequestPolicyOptions<Request, Response>,
  RequestConcurrencyOptions<Request>
>

/** The options of a limiter with one policy. */
type OnlyPolicy<Request, Response> = Omit<
  Pick<RequestPolicyOptions<Request, Response>, keyof PolicyOptions>,
  'name'
>

type SinglePolicy<Request, Response> = EitherPolicy<
  OnlyPolicy<Request, Response>,
  RequestConcurrencyOptions<Request>
> & { policies?: undefined }

type SeveralPolicies<Request, Response> = {
  [option in
    | keyof OnlyPolicy<Request, Response>
    | keyof RequestConcurrencyOptions<Request>]?: undefined
} & {
  /** All must admit a request; they are decided together, and none is charged if one refuses. */
  policies: readonly AnyPolicy<Request, Response>[]
}

/** The options of `rateLimit`, the same for every framework. */
export type RateLimitOptions<Request, Response> = HttpOptions<Request, Response> &
  (SinglePolicy<Request, Response> | SeveralPolicies<Request, Response>)

/**
 * What an entry for a route replaces. If it sets its own `limit`, `window`, `algorithm`,
 * `burst`, `maxDelay`, `concurrent` or `policies`, the route is counted separately.
 */
export type RouteOverrides<Request, Response> = Partial<
  Omit<HttpOptions<Request, Response>, 'store' | 'prefix'>
> &
  Partial<OnlyPolicy<Request, Response>> &
  Partial<RequestConcurrencyOptions<Request>> & {
    policies?: readonly AnyPolicy<Request, Response>[]
  }

/**
 * Overrides by route: `'POST /login'`, `'/search/:id'`; `false` exempts the route. The most
 * specific entry wins, one with a method before one without.
 */
export type Routes<Request, Response> = {
  readonly [route: string]: RouteOverrides<Request, Response> | boolean
}
