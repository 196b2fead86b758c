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
   * [warning](https://sluicejs.github.io/sluice/errors#sluice_window_short). Calendar windows are
   * fixed and begin at midnight in `timeZone`, on the day of `anchor`. Duration, or `'day'`,
   * `'week'`, `'month'`, 1 ms … 10 years. Required unless `policies` or `concurrent` is set.
   */
  window?: Duration | CalendarUnit | undefined
  /**
   * With a calendar `window`: where its days begin. Text, an IANA time zone such as
   * `'Europe/Berlin'`. Default: `'UTC'`.
   */
  timeZone?: string | undefined
  /**
   * With `window: 'month'`: the day on which months begin, in shorter months the last day. With
   * `window: 'week'`: a date on whose weekday weeks begin. A function may return `undefined` for
   * the default. Integer, 1 … 31, a date such as `'2026-11-21'`, or a `Date`. Default: the 1st of
   * the month, Monday.
   */
  anchor?: Anchor | undefined
  /** How the units are counted. Default: `'sliding-window'`. */
  algorithm?: AlgorithmName | undefined
  /**
   * How many units a full bucket holds. Only with `algorithm` `'token-bucket'`. Integer, 1 … 10^12
   * units. Default: `limit`.
   */
  burst?: number | undefined
  /**
   * The longest that an admitted request waits for its turn; one that would wait longer is refused.
   * Only with `algorithm` `'leaky-bucket'`. Duration, 0 ms … 10 years. Default: 1 second.
   */
  maxDelay?: Duration | undefined
  /**
   * What is counted. Header fields show the policy only if their profile has a word for the unit.
   * In an adapter, every unit but `requests` needs a `cost` or `settle`. Default: `'requests'`.
   */
  unit?: Unit | undefined
  /**
   * Shares of the limit. A charge or a settlement that reaches one causes an event in its process.
   * Array of 1 to 8 shares, above 0, up to 1. Default: none.
   */
  alertAt?: readonly number[] | undefined
  /**
   * The charge is an estimate: if the process dies before it settles, the units come back after
   * `hold`. For fixed and sliding windows and token buckets. In an adapter, it needs `settle` and a
   * `cost` above 0; with `createLimiter`, it applies to `acquire`. Default: `false`.
   */
  reserve?: boolean | undefined
  /**
   * The policy counts and reports, but refuses nothing. It does not charge what it would refuse.
   * Decisions and events say `dryRun`; header fields list it only with the profile `dry-run`.
   * Default: `false`.
   */
  dryRun?: boolean | undefined
  /**
   * The share of the clients that the policy refuses, the same ones in every process; for all
   * others it is a dry run. A larger share only adds clients. Number, from 0 to 1. Default: 1.
   */
  enforce?: number | undefined
  /**
   * Lets a document in the store change `limit`, `burst`, `maxDelay`, `concurrent`, `alertAt`,
   * `dryRun` and `enforce` while the application runs: every process applies a change within two
   * seconds. The limiter, or the policy, needs a `name`. Default: `false`.
   */
  live?: boolean | LiveBounds | undefined
  /**
   * How many requests of one key may be in progress at the same time. A request holds a slot until
   * the application has ended its response. 0 refuses everything. Integer, 0 … 1,000 requests.
   * Required unless `policies`, or `limit` and `window`, are set.
   */
  concurrent?: number | undefined
  /**
   * With `concurrent` or `reserve`: how long a slot stays taken, or an estimate charged, once its
   * process stops renewing it, for example because it died. Processes renew three times within
   * `hold`. Duration, 1000 ms … 1 hour. Default: `'30s'`.
   */
  hold?: Duration | undefined
}

/** Where a limiter counts, and what it does about a remote store that is slow, or down. */
export interface StoreOptions<M extends StoreMode = StoreMode> {
  /** Where the counts are kept. Your Redis client, or a store. Default: its own memory store. */
  store?: StoreOption<M> | undefined
  /**
   * Namespace of the keys in the store. Limiters on one store [share a
   * count](https://sluicejs.github.io/sluice/http#several-limits) if prefix, policy name, algorithm
   * and window are the same; Sluice warns, unless the second names its prefix. Text, 1 to 64
   * letters (A-Z, a-z), digits and . _ : -. Default: `'sluice'`.
   */
  prefix?: string | undefined
  /**
   * After `after` refusals of a key in the time `within`, all its requests are refused, on all
   * routes, for the first duration of `for`, the next time for the second, and so on; the last one
   * repeats. The key is that of the first policy. Object `{ after, within, for }`: 1 … 100
   * refusals, a duration, and an array of 1 … 10 durations. Default: none.
   */
  ban?: BanOptions | undefined
  /**
   * The longest that a request waits for a remote store. After that `onStoreError` decides.
   * Duration, 1 ms … 1 minute. Default: `'100ms'`.
   */
  deadline?: Duration | undefined
  /**
   * Who decides while a remote store is down. `'local'`: this process, by the same policies,
   * starting from what it has admitted itself. `'allow'` admits all requests, `'deny'` refuses all
   * with 503. Default: `'local'`.
   */
  onStoreError?: 'local' | 'allow' | 'deny' | undefined
  /**
   * With `onStoreError: 'local'`: the share of every limit that this process admits by itself while
   * the store fails, at least one unit: 0.25 for four processes. Number, above 0, up to 1. Default:
   * `1`.
   */
  localShare?: number | undefined
  /**
   * Whether a client that has nothing left is refused from memory, for at most 2 s or `lease`,
   * before Sluice asks a remote store again. Until then, a `reset`, `settle`, `override` or `grant`
   * of another process goes unnoticed. Default: true, unless something in this process settles on
   * the same quota.
   */
  refusalCache?: boolean | undefined
  /**
   * How long a process may admit requests of a busy key from units that it took from a remote store
   * in advance. Duration, 10 ms … 10 seconds. Default: none.
   */
  lease?: Duration | undefined
  /**
   * The most requests of this limiter that wait in this process: for their turn in a leaky bucket
   * and, counted separately, in `wait` and `acquire`. Further ones are refused. One key gets at
   * most half of the places. Integer, 0 … 10^6 requests. Default: `1000`.
   */
  maxWaiting?: number | undefined
}
