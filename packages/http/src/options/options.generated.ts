// Generated from options/table.ts by "npm run generate". Do not edit.
import type { Decision, Duration, EventOptions, MaybePromise, PolicyOptions } from '@sluice/core'
import type { Anchor, StoreOptions } from '@sluice/core/internal'
import type { CalendarUnit } from '@sluice/core/store'
import type { HeaderProfile } from '../fields/profiles/index.ts'
import type { KeyOption, UserOption } from '../keys/key-reader.ts'
import type { TrustProxyOption } from '../keys/trust-proxy.ts'
import type { SettleOption } from '../settlement/settlement.ts'

/** The options of one policy, also those by which it reads a request. */
export interface RequestPolicyOptions<Request, Response> extends Omit<PolicyOptions, 'limit' | 'window' | 'anchor' | 'concurrent'> {
  /**
   * The units that one key may use per window. A request costs one unit, unless `cost` says
   * otherwise. 0 refuses everything. With `'sliding-window'`, `'token-bucket'`, `'leaky-bucket'` at
   * most 10^12. With `'sliding-log'` at most 10,000. Integer, 0 … 2^53 − 1 units. Or a function of
   * the request and its key that gives one. Required unless `policies` or `concurrent` is set.
   */
  limit?: number | ((request: Request, key: string) => MaybePromise<number>) | undefined
  /**
   * The length of the window. A number is milliseconds; one below 1000 causes a
   * [warning](https://sluicejs.github.io/sluice/errors#sluice_window_short). Calendar windows are
   * fixed and begin at midnight in `timeZone`, on the day of `anchor`. Duration, or `'day'`,
   * `'week'`, `'month'`, 1 ms … 10 years. Or a function of the request and its key that gives a
   * duration. Required unless `policies` or `concurrent` is set.
   */
  window?: Duration | CalendarUnit | ((request: Request, key: string) => MaybePromise<Duration>) | undefined
  /**
   * With `window: 'month'`: the day on which months begin, in shorter months the last day. With
   * `window: 'week'`: a date on whose weekday weeks begin. A function may return `undefined` for
   * the default. Integer, 1 … 31, a date such as `'2026-11-21'`, or a `Date`. Or a function of the
   * request and its key that gives one. Default: the 1st of the month, Monday.
   */
  anchor?: Anchor | undefined | ((request: Request, key: string) => MaybePromise<Anchor | undefined>)
  /**
   * How many requests of one key may be in progress at the same time. A request holds a slot until
   * the application has ended its response. 0 refuses everything. Integer, 0 … 1,000 requests. Or a
   * function of the request and its key that gives one. Required unless `policies`, or `limit` and
   * `window`, are set.
   */
  concurrent?: number | ((request: Request, key: string) => MaybePromise<number>) | undefined
  /**
   * The key of a client: its address, the signed-in user, or the result of a function. Without a
   * user, or if the function returns nothing, it is the address. Default: the limiter's `key`.
   */
  key?: KeyOption<Request> | undefined
  /**
   * For a Redis Cluster: policies with the same shard keep their keys in one slot, so they are
   * decided together. The key is then `{shard}key`, in every store. Default: the limiter's `shard`.
   */
  shard?: UserOption<Request> | undefined
  /**
   * The cost of a request. A number above the limit is an error: no request could ever be admitted.
   * Integer, 0 … 2^53 − 1 units. Or a function of the request and its key that gives one. Default:
   * the limiter's `cost`.
   */
  cost?: number | ((request: Request, key: string) => MaybePromise<number>) | undefined
  /**
   * Returns what a request really cost, or `undefined` to keep the estimate. When the application
   * has ended the response, Sluice calls it and charges or gives back the difference to `cost`,
   * into debt if necessary. Default: the limiter's `settle`, unless the policy has its own `cost`.
   */
  settle?: SettleOption<Request, Response> | undefined
}

/** The options of `rateLimit`, the same for every framework: those of one policy, or several `policies`. */
export interface RateLimitOptions<Request, Response> extends Omit<RequestPolicyOptions<Request, Response>, 'name' | 'dryRun' | 'key' | 'shard' | 'cost' | 'settle'>, StoreOptions, EventOptions<Request> {
  /**
   * The key of a client: its address, the signed-in user, or the result of a function. Without a
   * user, or if the function returns nothing, it is the address. Default: `'ip'`.
   */
  key?: KeyOption<Request> | undefined
  /**
   * For a Redis Cluster: policies with the same shard keep their keys in one slot, so they are
   * decided together. The key is then `{shard}key`, in every store. Default: none.
   */
  shard?: UserOption<Request> | undefined
  /**
   * The cost of a request. A number above the limit is an error: no request could ever be admitted.
   * Integer, 0 … 2^53 − 1 units. Or a function of the request and its key that gives one. Default:
   * `1`.
   */
  cost?: number | ((request: Request, key: string) => MaybePromise<number>) | undefined
  /**
   * Returns what a request really cost, or `undefined` to keep the estimate. When the application
   * has ended the response, Sluice calls it and charges or gives back the difference to `cost`,
   * into debt if necessary. Default: none.
   */
  settle?: SettleOption<Request, Response> | undefined
  /**
   * The user's id for `key: 'user'`, or undefined if nobody is signed in. Default: the framework's
   * user if it is text or a number, otherwise its `id` or `sub`.
   */
  user?: UserOption<Request> | undefined
  /**
   * Which proxies to trust for the client's address, and which field they write: `X-Forwarded-For`,
   * or `header`: `'Forwarded'`, `'CF-Connecting-IP'`, `'True-Client-IP'`, `'X-Real-IP'`,
   * `'Fly-Client-IP'`. Addresses, CIDRs, `loopback`, `linklocal`, `uniquelocal`; a number of hops;
   * a function `(address, hop) => boolean`; or `{ proxies, header }`, with one of these and the
   * field. Default: the framework's own setting.
   */
  trustProxy?: TrustProxyOption | undefined
  /**
   * IPv6 addresses with this many leading bits in common share a key. Integer, 32 … 128 bits.
   * Default: `56`.
   */
  ipv6Prefix?: number | undefined
  /**
   * The longest that a request waits instead of being refused; one that would wait longer is
   * refused at once. At most `maxWaiting` wait, and clients take turns. Duration, 1 ms … 10
   * minutes. Default: a request is refused at once.
   */
  maxWait?: Duration | undefined
  /**
   * Among the requests that wait for a key, those with a higher number come first. Only with
   * `maxWait`. Integer, -1,000 … 1,000. Or a function of the request and its key that gives one.
   * Default: `0`.
   */
  priority?: number | ((request: Request, key: string) => MaybePromise<number>) | undefined
  /**
   * Requests for which it returns true are neither limited nor counted. `key()` reads the key of
   * the request; await it. Default: none.
   */
  skip?: ((request: Request, key: () => MaybePromise<string>) => MaybePromise<boolean>) | undefined
  /**
   * Clients that are neither limited nor counted. Array of addresses, CIDRs and keys. Default:
   * none.
   */
  allow?: readonly string[] | undefined
  /**
   * Clients that are always refused with 403, even their preflights. A client on both lists is
   * refused. Array of addresses, CIDRs and keys. Default: none.
   */
  deny?: readonly string[] | undefined
  /**
   * Which rate-limit fields responses have. Every refusal has `Retry-After`, even with `false`.
   * Fields that the application sets later win, unless `upstreamHeaders` removes them. A profile,
   * an array of compatible ones, or `false`. Default: `['draft-11', 'draft-6']`.
   */
  headers?: HeaderProfile | readonly HeaderProfile[] | false | undefined
  /**
   * What happens to rate-limit fields that the application sets after Sluice, such as those of a
   * service behind a gateway. `'keep'`: they win. `'remove'`: the response has only the fields of
   * `headers`, unless the request is exempt. Default: `'keep'`.
   */
  upstreamHeaders?: 'keep' | 'remove' | undefined
  /**
   * The share of the wait that is added to `Retry-After` at random, upward only, at most 30 s.
   * Number, from 0 to 1. Default: `0.1`.
   */
  retryAfterJitter?: number | undefined
  /**
   * Adds a partition key (`pk`) to the fields: an HMAC of the client's key. Text of at least 16
   * characters. Default: none.
   */
  partitionSecret?: string | undefined
  /**
   * The status of a refusal. The body of 403 and 404 does not say why. A banned client gets 429
   * instead of 402 or 503. Default: `429`.
   */
  statusCode?: 402 | 403 | 404 | 429 | 503 | undefined
  /**
   * Writes the body of the refusal, or returns it: text, an object for JSON, or a `Response`.
   * Sluice has already set the status and the header fields. A refusal that it neither sends nor
   * returns gets the default body after a second, with a warning. `'throw'` hands the refusal to
   * the application's error handler, as a `RateLimitError`. `'continue'` lets a refused request go
   * on: it is not charged, and its decision says so. `deny` and `onStoreError` still refuse, with
   * the default body. Default: problem+json (RFC 9457).
   */
  respond?: 'throw' | 'continue' | ((decision: Decision, request: Request, response: Response, key: string) => unknown) | undefined
  /** Decides, counts and reports, but never refuses and sends no fields. Default: `false`. */
  dryRun?: boolean | undefined
  /**
   * Policies that are decided together: all must admit a request, and none is charged if one
   * refuses. Array of 1 to 32 policies. Default: one policy, from the options themselves.
   */
  policies?: readonly RequestPolicyOptions<Request, Response>[] | undefined
}
