// Generated from options/table.ts by "npm run generate". Do not edit.
import type { Decision, Duration, EventOptions, MaybePromise, PolicyOptions } from '@sluice/core'
import type { Anchor, StoreOptions } from '@sluice/core/internal'
import type { CalendarUnit } from '@sluice/core/store'
import type { HeaderProfile } from '../fields/profiles/index.ts'
import type { KeyOption, UserOption } from '../keys/key-reader.ts'
import type { TrustProxyOption } from '../keys/trust-proxy.ts'
import type { SettleOption } from '../settlement/settlement.ts'

/** The options of one policy, including those that read a request. */
export interface RequestPolicyOptions<Request, Response> extends Omit<PolicyOptions, 'limit' | 'window' | 'anchor' | 'concurrent'> {
  /**
   * The units that one key may use per window. A request costs one unit, unless `cost` is set. 0
   * refuses everything. With `'sliding-window'`, `'token-bucket'`, `'leaky-bucket'` at most 10^12.
   * With `'sliding-log'` at most 10,000. Integer, 0 … 2^53 − 1 units. Or a function of the request
   * and its key that returns one. Required unless `policies` or `concurrent` is set.
   */
  limit?: number | ((request: Request, key: string) => MaybePromise<number>) | undefined
  /**
   * The length of the window. A number is milliseconds; below 1000 it causes a
   * [warning](https://sluicejs.github.io/sluice/errors#sluice_window_short). Calendar windows are
   * fixed, and begin at midnight in `timeZone`, on the day that `anchor` sets. If a function
   * returns different lengths (at most 16 per process), each has its own quota. Duration, or
   * `'day'`, `'week'`, `'month'`, 1 ms … 10 years. Or a function of the request and its key that
   * returns a duration. Required unless `policies` or `concurrent` is set.
   */
  window?: Duration | CalendarUnit | ((request: Request, key: string) => MaybePromise<Duration>) | undefined
  /**
   * With `window: 'month'`: the day on which months begin, or the last day of a shorter month. With
   * `window: 'week'`: any date on the weekday on which weeks begin. A function may return
   * `undefined` for the default. If a client's anchor changes, its current window still ends as
   * planned. Integer, 1 … 31, a date such as `'2026-11-21'`, or a `Date`. Or a function of the
   * request and its key that returns one. Default: the 1st of the month, Monday.
   */
  anchor?: Anchor | undefined | ((request: Request, key: string) => MaybePromise<Anchor | undefined>)
  /**
   * The requests of one key that may be in progress at once. Each uses a slot until the application
   * has ended its response. 0 refuses everything. Integer, 0 … 1,000 requests. Or a function of the
   * request and its key that returns one. Required unless `policies`, or `limit` and `window`, are
   * set.
   */
  concurrent?: number | ((request: Request, key: string) => MaybePromise<number>) | undefined
  /**
   * The client's key: its address, the signed-in user, or the result of a function. If there is no
   * user, or the function returns nothing, it is the address. Default: the limiter's `key`.
   */
  key?: KeyOption<Request> | undefined
  /**
   * For a Redis Cluster: policies with the same shard keep their keys in one slot, so that they can
   * be decided together. Keys become `{shard}key`, in every store. Default: the limiter's `shard`.
   */
  shard?: UserOption<Request> | undefined
  /**
   * The cost of a request. A number above the limit is an error: no request could ever be admitted.
   * Integer, 0 … 2^53 − 1 units. Or a function of the request and its key that returns one.
   * Default: the limiter's `cost`.
   */
  cost?: number | ((request: Request, key: string) => MaybePromise<number>) | undefined
  /**
   * Returns the real cost of a request, or `undefined` to keep the estimate. Called when the
   * application has ended the response: the difference to `cost` is given back or charged, into
   * debt if necessary. Also called when the client leaves, and once per window of a slow response:
   * then the cost so far is charged, and nothing is given back. Default: the limiter's `settle`,
   * unless the policy has its own `cost`.
   */
  settle?: SettleOption<Request, Response> | undefined
}

/** The options of `rateLimit`, the same for every framework: those of one policy, or several `policies`. */
export interface RateLimitOptions<Request, Response> extends Omit<RequestPolicyOptions<Request, Response>, 'name' | 'dryRun' | 'key' | 'shard' | 'cost' | 'settle'>, StoreOptions, EventOptions<Request> {
  /**
   * The client's key: its address, the signed-in user, or the result of a function. If there is no
   * user, or the function returns nothing, it is the address. Default: `'ip'`.
   */
  key?: KeyOption<Request> | undefined
  /**
   * For a Redis Cluster: policies with the same shard keep their keys in one slot, so that they can
   * be decided together. Keys become `{shard}key`, in every store. Default: none.
   */
  shard?: UserOption<Request> | undefined
  /**
   * The cost of a request. A number above the limit is an error: no request could ever be admitted.
   * Integer, 0 … 2^53 − 1 units. Or a function of the request and its key that returns one.
   * Default: `1`.
   */
  cost?: number | ((request: Request, key: string) => MaybePromise<number>) | undefined
  /**
   * Returns the real cost of a request, or `undefined` to keep the estimate. Called when the
   * application has ended the response: the difference to `cost` is given back or charged, into
   * debt if necessary. Also called when the client leaves, and once per window of a slow response:
   * then the cost so far is charged, and nothing is given back. Default: none.
   */
  settle?: SettleOption<Request, Response> | undefined
  /**
   * Returns the user's id for `key: 'user'`, or undefined if nobody is signed in. Default: the
   * framework's user if it is text or a number, otherwise its `id` or `sub`.
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
   * The longest that a request waits instead of being refused. A request that would wait longer is
   * refused at once. At most `maxWaiting` wait, and clients take turns. Duration, 1 ms … 10
   * minutes. Default: a request is refused at once.
   */
  maxWait?: Duration | undefined
  /**
   * Higher numbers go first among the requests that wait for a key. Only with `maxWait`. Integer,
   * -1,000 … 1,000. Or a function of the request and its key that returns one. Default: `0`.
   */
  priority?: number | ((request: Request, key: string) => MaybePromise<number>) | undefined
  /**
   * Requests for which it returns true are neither limited nor counted. `await key()` gives the
   * request's key. Default: none.
   */
  skip?: ((request: Request, key: () => MaybePromise<string>) => MaybePromise<boolean>) | undefined
  /**
   * Clients that are neither limited nor counted. Array of addresses, CIDRs and keys. Default:
   * none.
   */
  allow?: readonly string[] | undefined
  /**
   * Clients that always get 403, for preflights too. It takes precedence over `allow`. Array of
   * addresses, CIDRs and keys. Default: none.
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
   * The largest share of the wait that is added to `Retry-After` at random, at most 30 s. Number,
   * from 0 to 1. Default: `0.1`.
   */
  retryAfterJitter?: number | undefined
  /**
   * Adds a partition key (`pk`) to the fields: an HMAC of the client's key with this secret. Text
   * of at least 16 characters. Default: none.
   */
  partitionSecret?: string | undefined
  /**
   * The status of a refusal. With 403 and 404, the body does not say why. A banned client gets 429
   * instead of 402 or 503. Default: `429`.
   */
  statusCode?: 402 | 403 | 404 | 429 | 503 | undefined
  /**
   * Sends the body of the refusal, or returns it: text, an object for JSON, or a `Response`. Status
   * and header fields are already set. If it does neither, the default body is sent after a second,
   * with a warning. `'throw'` passes a `RateLimitError` to the application's error handler.
   * `'continue'` lets a refused request continue, uncharged: its decision has `allowed: false`.
   * `deny` and `onStoreError` still refuse, with the default body. Default: problem+json (RFC
   * 9457).
   */
  respond?: 'throw' | 'continue' | ((decision: Decision, request: Request, response: Response, key: string) => unknown) | undefined
  /** Counts and reports, but never refuses, and sends no fields. Default: `false`. */
  dryRun?: boolean | undefined
  /**
   * Policies that are decided together: all must admit a request. If one refuses, none is charged.
   * Array of 1 to 32 policies. Default: one policy, from the options themselves.
   */
  policies?: readonly RequestPolicyOptions<Request, Response>[] | undefined
}
