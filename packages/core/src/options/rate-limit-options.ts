import type { Decision } from '../decision.ts'
import type { HeaderProfile } from '../http/profiles/index.ts'
import type { KeyOption, UserOption } from '../key/key.ts'
import type { StoreOptions } from '../limiter.ts'
import type { MaybePromise } from '../maybe-promise.ts'
import type { PolicyOptions } from '../policy.ts'

type Of<Request, T> = (request: Request) => MaybePromise<T>

/** The terms of a policy, of which some may depend on the request. */
export interface RequestPolicyOptions<Request> extends Omit<PolicyOptions, 'limit'> {
  /**
   * Requests (units of cost) per window: an integer, 0 … 10^12, or a function of the request that
   * gives one: tiers. 0 refuses everything.
   */
  limit: number | Of<Request, number>
  /** Default: the limiter's `key`. */
  key?: KeyOption<Request>
  /** Default: the limiter's `cost`. */
  cost?: number | Of<Request, number>
}

interface CommonOptions<Request, Response> extends StoreOptions {
  /** What the request costs: an integer ≥ 0, or a function of the request. Default: 1. */
  cost?: number | Of<Request, number>
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
  /** IPv6 addresses that share so many bits share a key: 32 … 128. Default: 56. */
  ipv6Prefix?: number
  /** Requests for which it gives true are neither limited nor counted. */
  skip?: Of<Request, boolean>
  /**
   * Which rate-limit fields responses carry: a profile, an array of compatible ones, or false.
   * Retry-After is sent with every refusal. Default: `['draft-11', 'draft-6']`.
   */
  headers?: HeaderProfile | readonly HeaderProfile[] | false
  /** Share of the wait that is added to Retry-After at random, upward only: 0 … 1. Default: 0.1. */
  retryAfterJitter?: number
  /** Status of a refusal. Default: 429. */
  statusCode?: 429 | 503
  /** Writes the refusal instead of the default problem+json. Header fields are set already. */
  respond?: (decision: Decision, request: Request, response: Response) => unknown
  /** Decides, counts and reports, but never refuses and sends no fields. Default: false. */
  dryRun?: boolean
  /** Told of every decision, for logs and metrics. */
  onDecision?: (decision: Decision, request: Request) => void
}

type SinglePolicy<Request> = Omit<RequestPolicyOptions<Request>, 'name' | 'key' | 'cost'> & {
  policies?: undefined
}

type SeveralPolicies<Request> = {
  [option in 'limit' | 'window' | 'algorithm' | 'burst' | 'maxDelay']?: undefined
} & {
  /** All must admit a request; they are decided together, and none is charged if one refuses. */
  policies: readonly RequestPolicyOptions<Request>[]
}

/** The options of `rateLimit`, the same for every framework. */
export type RateLimitOptions<Request, Response> = CommonOptions<Request, Response> &
  (SinglePolicy<Request> | SeveralPolicies<Request>)
