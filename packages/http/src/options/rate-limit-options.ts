import type { PolicyOptions } from '@sluice/core'
import type { EitherPolicy } from '@sluice/core/internal'
import type { SettleOption } from '../settlement/settlement.ts'
import type {
  HttpOptions,
  RequestConcurrencyOptions,
  RequestPolicyOptions,
} from './options.generated.ts'

/** The option that corrects an estimate. */
type Settled<Request, Response> = { settle: SettleOption<Request, Response> }

type AnyPolicy<Request, Response> = EitherPolicy<
  RequestPolicyOptions<Request, Response>,
  RequestConcurrencyOptions<Request>,
  Settled<Request, Response>
>

/** The options of a limiter with one policy. */
type OnlyPolicy<Request, Response> = Omit<
  Pick<RequestPolicyOptions<Request, Response>, keyof PolicyOptions>,
  'name' | 'dryRun'
>

/** The options of `rateLimit`, the same for every framework. */
export type RateLimitOptions<Request, Response> = HttpOptions<Request, Response> &
  (
    | (EitherPolicy<
        OnlyPolicy<Request, Response>,
        RequestConcurrencyOptions<Request>,
        Settled<Request, Response>
      > & {
        policies?: undefined
      })
    | ({
        [option in
          | keyof OnlyPolicy<Request, Response>
          | keyof RequestConcurrencyOptions<Request>]?: undefined
      } & {
        /** All must admit a request; they are decided together, and none is charged if one refuses. */
        policies: readonly AnyPolicy<Request, Response>[]
      })
  )

/**
 * The options that an entry for a route can replace. If it sets its own `limit`, `window`, `algorithm`,
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
  readonly [route: string]: RouteOverrides<Request, Response> | false
}

/**
 * Options that a configuration can hold, for every adapter and for `createLimiter`: all but functions
 * and the store. The compiler takes text of a configuration for any `string`, so say what it is:
 * `rateLimit({ ...(config as RateLimitConfig), store })`. The limiter checks it when it is created.
 */
export type RateLimitConfig = Configurable<
  RateLimitOptions<never, never> & { routes?: Routes<never, never> | undefined }
>

/** A type without its functions and the store. Its arrays are mutable, as those of a configuration are. */
type Configurable<T> = T extends string | number | boolean | undefined
  ? T
  : T extends readonly (infer Entry)[]
    ? Configurable<Entry>[]
    : T extends Date | ((...args: never[]) => unknown)
      ? never
      : { [option in keyof T as Exclude<option, 'store'>]: Configurable<T[option]> }
