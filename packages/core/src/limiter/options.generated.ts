// Generated from options/table.ts by "npm run generate". Do not edit.
import type { Anchor } from '../algorithms/calendar-window/anchor.ts'
import type { CalendarUnit } from '../algorithms/calendar-window/calendar.ts'
import type { AlgorithmName } from '../algorithms/index.ts'
import type { BanOptions } from './ban.ts'
import type { LiveBounds } from './live-bounds.ts'
import type { Duration } from '../options/duration.ts'
import type { Unit } from '../options/unit.ts'
import type { StoreOption } from '../stores/resolve.ts'
import type { StoreMode } from '../stores/store.ts'

/** The options of one policy: it counts per window, or what is in use at the same time. */
export interface PolicyOptions {
  /**
   * Identifies the policy in decisions, header fields and keys. Names must differ in more than
   * case. Text, 1 to 128 printable ASCII characters. Default: `'default'`.
   */
  name?: string | undefined
  /**
   * The units that one key may use per window. A request costs one unit, unless `cost` says
   * otherwise. 0 refuses everything. With `'sliding-window'`, `'token-bucket'`, `'leaky-bucket'` at
   * most 10^12. With `'sliding-log'` at most 10,000. Integer, 0 … 2^53 − 1 units. Required unless
   * `policies` or `concurrent` is set.
   */
  limit?: number | undefined
  /**
   * The length of the window. A number is milliseconds; one below 1000 causes a
   * [warning](https://sluicejs.github.io/sluice/errors#sluice_window_short). Windows of the
   * calendar are fixed, and begin at midnight in `timeZone` on the day that `anchor` says. Each
   * length that a function returns has its own quota; a process accepts 16 of them. Duration, or
   * `'day'`, `'week'`, `'month'`, 1 ms … 10 years. Required unless `policies` or `concurrent` is
   * set.
   */
  window?: Duration | CalendarUnit | undefined
  /**
   * With a `window` of the calendar: where its days begin. Text, an IANA time zone such as
   * `'Europe/Berlin'`. Default: `'UTC'`.
   */
  timeZone?: string | undefined
  /**
   * With `window: 'month'`: the day on which months begin; in a shorter month it is the last day.
   * With `window: 'week'`: a date whose weekday weeks begin on. A function may return `undefined`
   * for the default. If a client's day changes, its current window ends as it said. Integer, 1 …
   * 31, a date such as `'2026-11-21'`, or a `Date`. Default: the 1st of the month, Monday.
   */
  anchor?: Anchor | undefined
  /** How the units are counted. Default: `'sliding-window'`. */
  algorithm?: AlgorithmName | undefined
  /**
   * The size of the full bucket. Only with `algorithm` `'token-bucket'`. Integer, 1 … 10^12 units.
   * Default: `limit`.
   */
  burst?: number | undefined
  /**
   * The longest that an admitted request waits for its turn; one that would wait longer is refused.
   * Only with `algorithm` `'leaky-bucket'`. Duration, 0 ms … 10 years. Default: 1 second.
   */
  maxDelay?: Duration | undefined
  /**
   * The unit that is counted. Clients see the policy if the header profile has a word for it. In an
   * adapter, every unit but `requests` needs a `cost` or `settle`. Default: `'requests'`.
   */
  unit?: Unit | undefined
  /**
   * Shares of the limit. The request whose charge reaches such a share causes an event, in its
   * process; so does a settlement. Array of 1 to 8 shares, above 0, up to 1. Default: none.
   */
  alertAt?: readonly number[] | undefined
  /**
   * With fixed and sliding windows and token buckets: the charge is an estimate that ends with its
   * process. If that dies before it has settled, the charge is given back after `hold`. In an
   * adapter with `settle` and a `cost` above 0; with `createLimiter` it is what `acquire` charges.
   * Default: `false`.
   */
  reserve?: boolean | undefined
  /**
   * The policy counts and reports, and refuses nothing. What it would refuse it does not charge.
   * Decisions and events say `dryRun`; header fields list it only with the profile `dry-run`.
   * Default: `false`.
   */
  dryRun?: boolean | undefined
  /**
   * The share of the clients that the policy refuses; for all others it is a dry run. A hash of the
   * key and of the names of limiter, policy and route chooses them, the same in every process; a
   * larger share only adds clients. Number, from 0 to 1. Default: 1.
   */
  enforce?: number | undefined
  /**
   * Lets a document in the store change `limit`, `burst`, `maxDelay`, `concurrent`, `alertAt`,
   * `dryRun` and `enforce` while the application runs: every process has a change within two
   * seconds. The limiter, or the policy, needs a `name`. Default: `false`.
   */
  live?: boolean | LiveBounds | undefined
  /**
   * The requests of one key that may be in progress at the same time. A request uses a slot until
   * the application has ended its response. 0 refuses everything. Integer, 0 … 1,000 requests.
   * Required unless `policies`, or `limit` and `window`, are set.
   */
  concurrent?: number | undefined
  /**
   * With `concurrent` or `reserve`: how long a slot stays in use, or an estimate charged, if its
   * process no longer renews it: the process died, or the client has left a request that never
   * ends. In Hono: also if the client has left a stream, or nobody reads it. Slots are renewed
   * three times in this time. Duration, 1000 ms … 1 hour. Default: `'30s'`.
   */
  hold?: Duration | undefined
}

/** Where a limiter counts, and what it does about a remote store that is slow, or down. */
export interface StoreOptions<M extends StoreMode = StoreMode> {
  /**
   * Where the counts are kept. A client of Redis as it is, or a store. Default: a memory store of
   * its own.
   */
  store?: StoreOption<M> | undefined
  /**
   * Namespace of the keys in the store. Two limiters on one store share a count if their prefixes
   * and the name, algorithm and window of the policy are the same. Sluice warns of that unless the
   * second names its prefix. In one process their limits must not differ. Text, 1 to 64 letters
   * (A-Z, a-z), digits and . _ : -. Default: `'sluice'`.
   */
  prefix?: string | undefined
  /**
   * After so many refusals of a key `within` a duration, everything of that key is refused, on all
   * routes, for the first duration of `for`; after the next ones for the next; the last one
   * repeats. Once `within` has passed without a refusal after the last ban, all is forgotten. The
   * key is that of the first policy. What a ban refuses is not counted. Object `{ after, within,
   * for }`: 1 … 100 refusals, a duration, and an array of 1 … 10 durations. Default: none.
   */
  ban?: BanOptions | undefined
  /**
   * The longest that a request waits for a remote store. After that `onStoreError` decides.
   * Duration, 1 ms … 1 minute. Default: `'100ms'`.
   */
  deadline?: Duration | undefined
  /**
   * Decides while a remote store fails. `'local'`: this process, with the same policies, starting
   * from what it has admitted itself. `'allow'`: all requests are admitted. `'deny'`: all are
   * refused, with 503. Default: `'local'`.
   */
  onStoreError?: 'local' | 'allow' | 'deny' | undefined
  /**
   * With `onStoreError: 'local'`: the share of every limit that this process admits by itself while
   * the store fails, at least one unit: 0.25 for four processes. What the store has left when it is
   * back comes on top. Number, above 0, up to 1. Default: `1`.
   */
  localShare?: number | undefined
  /**
   * Whether a client that has nothing left is refused from memory, for at most 2 s, or `lease`,
   * before a remote store is asked again. What another process changes, by `reset`, `settle`,
   * `override` or `grant`, is seen no sooner. Default: true, unless something in this process
   * settles on the same quota.
   */
  refusalCache?: boolean | undefined
  /**
   * How long a process may admit requests of a busy key from units that it has taken in advance
   * from a remote store. Duration, 10 ms … 10 seconds. Default: none.
   */
  lease?: Duration | undefined
  /**
   * How many requests of this limiter wait in this process at most: for their turn in a leaky
   * bucket, and, counted apart, in `wait` and `acquire`. Further ones are refused. A single key
   * gets at most half of the places. Integer, 0 … 10^6 requests. Default: `1000`.
   */
  maxWaiting?: number | undefined
}
