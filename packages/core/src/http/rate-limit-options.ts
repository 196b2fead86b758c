import type { Decision } from '../limiter/decision.ts'
import type { PolicyOptions } from '../limiter/policy.ts'
import type { StoreOptions } from '../limiter/store-limiter.ts'
import type { MaybePromise } from '../maybe-promise.ts'
import type { HeaderProfile } from './fields/profiles/index.ts'
import type { KeyOption, UserOption } from './keys/key-reader.ts'
import type { TrustProxyOption } from './keys/trust-proxy.ts'

type Of<Request, T> = (request: Request) => MaybePromise<T>

/** The terms of a policy, of which some may depend on the request. */
export interface RequestPolicyOptions<Request, Response> extends Omit<PolicyOptions, 'limit'> {
  /**
   * Requests (units of cost) per window: an integer, 0 … 10^12, or a function of the request that
   * gives one: tiers. 0 refuses everything.
   */
  limit: number | Of<Request, number>
  /** Default: the limiter's `key`. */
  key?: KeyOption<Request>
  /** Default: the limiter's `cost`. */
  cost?: number | Of<Request, number>
  /** What the request has turned out to cost. Default: the limiter's `settle`, if `cost` is too. */
  settle?: SettleOption<Request, Response>
}

/** Gives the actual cost, an integer ≥ 0, or undefined where the estimate is to stand. */
export type SettleOption<Request, Response> = (
  request: Request,
  response: Response,
) => MaybePromise<number | undefined>

interface CommonOptions<Request, Response> extends StoreOptions {
  /** What the request costs: an integer ≥ 0, or a function of the request. Default: 1. */
  cost?: number | Of<Request, number>
  /**
   * What the request has turned out to cost, or undefined to keep the estimate. Called when the
   * application has ended the response: the difference to `cost` is given back or charged, into
   * debt if need be. Also called before, when the client leaves and once per window of a slow
   * response: then what it has cost so far is charged, and nothing is given back.
   */
  settle?: SettleOption<Request, Response>
  /**
   * What sets clients apart: `'ip'`, `'user'`, or a function that gives text. Where there is no
   * user, or the function gives none, it is the address. Default: `'ip'`.
   */
  key?: KeyOption<Request>
  /**
   * The user's id for `key: 'user'`, or undefined if nobody is signed in. Default: the `id` or
   * `sub` of what the framework has as its user.
   */
  user?: UserOption<Request>
  /**
   * Which proxies to believe about the client's address: addresses, CIDRs and the names
   * `loopback`, `linklocal`, `uniquelocal`; a number of hops; or a function. Default: the
   * framework's own setting.
   */
  trustProxy?: TrustProxyOption
  /** IPv6 addresses that share so many bits share a key: 32 … 128. Default: 56. */
  ipv6Prefix?: number
  /** Requests for which it gives true are neither limited nor counted. */
  skip?: Of<Request, boolean>
  /** Addresses, CIDRs and keys that are never limited nor counted. */
  allow?: readonly string[]
  /** Addresses, CIDRs and keys that are always refused, with 403, preflights too. Goes before `allow`. */
  deny?: readonly string[]
  /**
   * Leaky bucket: how many requests of this limiter wait for their turn in this process at most,
   * 0 … 10^6; beyond it they are refused. A key gets no more places than are free, so one alone
   * gets half of them. Default: 1000.
   */
  maxWaiting?: number
  /**
   * A secret of 16 characters or more: the fields then carry a partition key (`pk`), an HMAC of
   * the client's key. Default: none.
   */
  partitionSecret?: string
  /**
   * Which rate-limit fields responses carry: a profile, an array of compatible ones, or false.
   * Retry-After is sent with every refusal. Default: `['draft-11', 'draft-6']`.
   */
  headers?: HeaderProfile | readonly HeaderProfile[] | false
  /** Share of the wait that is added to Retry-After at random, upward only: 0 … 1. Default: 0.1. */
  retryAfterJitter?: number
  /** Status of a refusal. Default: 429. */
  statusCode?: 429 | 503
  /**
   * Writes the refusal instead of the default problem+json; status and header fields are set
   * already. `'throw'` hands it to the application's error handler, as a `RateLimitError`.
   */
  respond?: 'throw' | ((decision: Decision, request: Request, response: Response) => unknown)
  /** Decides, counts and reports, but never refuses and sends no fields. Default: false. */
  dryRun?: boolean
  /** Told of every decision, for logs and metrics. */
  onDecision?: (decision: Decision, request: Request) => void
}

type SinglePolicy<Request, Response> = Omit<
  RequestPolicyOptions<Request, Response>,
  'name' | 'key' | 'cost' | 'settle'
> & {
  policies?: undefined
}

type SeveralPolicies<Request, Response> = {
  [option in 'limit' | 'window' | 'algorithm' | 'burst' | 'maxDelay']?: undefined
} & {
  /** All must admit a request; they are decided together, and none is charged if one refuses. */
  policies: readonly RequestPolicyOptions<Request, Response>[]
}

/** The options of `rateLimit`, the same for every framework. */
export type RateLimitOptions<Request, Response> = CommonOptions<Request, Response> &
  (SinglePolicy<Request, Response> | SeveralPolicies<Request, Response>)

/**
 * What an entry for a route replaces. Where it names terms of its own (`limit`, `window`,
 * `algorithm`, `burst`, `maxDelay`, `policies`) the route is counted apart.
 */
export type RouteOverrides<Request, Response> = Partial<
  Omit<CommonOptions<Request, Response>, 'store' | 'prefix'>
> &
  Partial<Omit<RequestPolicyOptions<Request, Response>, 'name' | 'key' | 'cost' | 'settle'>> & {
    policies?: readonly RequestPolicyOptions<Request, Response>[]
  }

/**
 * Overrides by route: `'POST /login'`, `'/search/:id'`; `false` exempts the route. The most
 * specific entry wins, one with a method before one without.
 */
export type Routes<Request, Response> = {
  readonly [route: string]: RouteOverrides<Request, Response> | false
}
