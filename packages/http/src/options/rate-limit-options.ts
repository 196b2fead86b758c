import type { RateLimitOptions } from './options.generated.ts'

/**
 * The options that a route can override. If it sets `policies` or an option of a policy, such as
 * `limit` or `concurrent`, the route counts separately.
 */
export type RouteOverrides<Request, Response> = Omit<
  RateLimitOptions<Request, Response>,
  'store' | 'prefix'
>

/**
 * Overrides by route: `'POST /login'`, `'/search/:id'`; `false` exempts the route. The most
 * specific entry wins, and an entry with a method wins over one without.
 */
export type Routes<Request, Response> = {
  readonly [route: string]: RouteOverrides<Request, Response> | false
}

/**
 * Options from a configuration file, for every adapter and for `createLimiter`: all but functions
 * and the store. To the compiler, text from a file is any `string`, so cast it: `rateLimit({
 * ...(config as RateLimitConfig), store })`. The limiter checks it when it is created.
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
