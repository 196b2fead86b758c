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

/** The options of one policy: a limit per window, or on requests in progress. */
export interface PolicyOptions {
  /**
   * Identifies the policy in decisions, header fields and keys. Names must differ in more than
   * case. Text, 1 to 128 printable ASCII characters. Default: `'default'`.
   */
  name?: string | undefined
  /**
   * The units that one key may use per window. A request costs one unit, unless `cost` is set. 0
   * refuses everything. With `'sliding-window'`, `'token-bucket'`, `'leaky-bucket'` at most 10^12.
   * With `'sliding-log'` at most 10,000. Integer, 0 … 2^53 − 1 units. Required unless `policies` or
   * `concurrent` is set.
   */
  limit?: number | undefined
  /**
   * The length of the window. A number is milliseconds; below 1000 it causes a
   * [warning](https://sluicejs.github.io/sluice/errors#sluice_window_short). Calendar windows are
   * fixed, and begin at midnight in `timeZone`, on the day that `anchor` sets. If a function
   * returns different lengths (at most 16 per process), each has its own quota. Duration, or
   * `'day'`, `'week'`, `'month'`, 1 ms … 10 years. Required unless `policies` or `concurrent` is
   * set.
   */
  window?: Duration | CalendarUnit | undefined
  /**
   * With a calendar `window`: the time zone of its days. Text, an IANA time zone such as
   * `'Europe/Berlin'`. Default: `'UTC'`.
   */
  timeZone?: string | undefined
  /**
   * With `window: 'month'`: the day on which months begin, or the last day of a shorter month. With
   * `window: 'week'`: any date on the weekday on which weeks begin. A function may return
   * `undefined` for the default. If a client's anchor changes, its current window still ends as
   * planned. Integer, 1 … 31, a date such as `'2026-11-21'`, or a `Date`. Default: the 1st of the
   * month, Monday.
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
   * The longest that an admitted request waits for its turn. A request that would wait longer is
   * refused. Only with `algorithm` `'leaky-bucket'`. Duration, 0 ms … 10 years. Default: 1 second.
   */
  maxDelay?: Duration | undefined
  /**
   * The unit that is counted. Header fields show the policy if their profile has a name for the
   * unit. In an adapter, every unit but `requests` needs a `cost` or `settle`. Default:
   * `'requests'`.
   */
  unit?: Unit | undefined
  /**
   * Shares of the limit. A charge or settlement that reaches one causes an event in its process.
   * Array of 1 to 8 shares, above 0, up to 1. Default: none.
   */
  alertAt?: readonly number[] | undefined
  /**
   * With fixed and sliding windows and token buckets: the charge is a reservation. If the process
   * dies before it settles, the charge is given back after `hold`. In an adapter, it needs `settle`
   * and a `cost` above 0; with `createLimiter`, it applies to `acquire`. Default: `false`.
   */
  reserve?: boolean | undefined
  /**
   * The policy counts and reports, but refuses nothing. It does not charge requests that it would
   * refuse. Decisions and events have `dryRun`; header fields show the policy only with the profile
   * `dry-run`. Default: `false`.
   */
  dryRun?: boolean | undefined
  /**
   * The share of clients that the policy applies to; for all others it is a dry run. A hash of the
   * key and of the names of limiter, policy and route chooses them, the same in every process. A
   * larger share only adds clients. Number, from 0 to 1. Default: 1.
   */
  enforce?: number | undefined
  /**
   * Lets a document in the store change `limit`, `burst`, `maxDelay`, `concurrent`, `alertAt`,
   * `dryRun` and `enforce` while the application runs. Every process applies a change within two
   * seconds. The limiter, or the policy, needs a `name`. Default: `false`.
   */
  live?: boolean | LiveBounds | undefined
  /**
   * The requests of one key that may be in progress at once. Each uses a slot until the application
   * has ended its response. 0 refuses everything. Integer, 0 … 1,000 requests. Required unless
   * `policies`, or `limit` and `window`, are set.
   */
  concurrent?: number | undefined
  /**
   * With `concurrent` or `reserve`: how long a slot stays in use, or an estimate charged, if its
   * process stops renewing it because the process died, or the client left a request that never
   * ends. In Hono, also if the client left a stream, or nobody reads it. A process renews its slots
   * three times in this time. Duration, 1000 ms … 1 hour. Default: `'30s'`.
   */
  hold?: Duration | undefined
}

/** Where a limiter counts, and what it does if a remote store is slow or down. */
export interface StoreOptions<M extends StoreMode = StoreMode> {
  /**
   * Where the counts are kept. A Redis client, unwrapped, or a store. Default: its own memory
   * store.
   */
  store?: StoreOption<M> | undefined
  /**
   * Namespace of the keys in the store. Two limiters on one store share counts if their prefix and
   * the policy's name, algorithm and window are the same. Sluice warns about it, unless the second
   * sets `prefix`. In one process, their limits must be the same. Text, 1 to 64 letters (A-Z, a-z),
   * digits and . _ : -. Default: `'sluice'`.
   */
  prefix?: string | undefined
  /**
   * Bans a key on all routes after so many refusals `within` a duration: first for the first
   * duration of `for`, the next time for the second, and so on; the last one repeats. Once `within`
   * has passed after a ban without a refusal, everything is forgotten. The key is that of the first
   * policy. Requests that a ban refuses are not counted. Object `{ after, within, for }`: 1 … 100
   * refusals, a duration, and an array of 1 … 10 durations. Default: none.
   */
  ban?: BanOptions | undefined
  /**
   * The longest that a request waits for a remote store. Then `onStoreError` decides. Duration, 1
   * ms … 1 minute. Default: `'100ms'`.
   */
  deadline?: Duration | undefined
  /**
   * What happens while a remote store fails. `'local'`: this process decides, with the same
   * policies, starting from what it has admitted itself. `'allow'`: all requests are admitted.
   * `'deny'`: all are refused, with 503. Default: `'local'`.
   */
  onStoreError?: 'local' | 'allow' | 'deny' | undefined
  /**
   * With `onStoreError: 'local'`: the share of every limit that this process admits while the store
   * fails, at least one unit. Set 0.25 for four processes. When the store is back, what it has left
   * comes on top. Number, above 0, up to 1. Default: `1`.
   */
  localShare?: number | undefined
  /**
   * Whether a client that has nothing left is refused from memory, for at most 2 s or `lease`,
   * before the remote store is asked again. Until then, this process does not see a `reset`,
   * `settle`, `override` or `grant` of another. Default: true, unless something in this process
   * settles on the same quota.
   */
  refusalCache?: boolean | undefined
  /**
   * How long a process may admit requests of a busy key from units that it took from a remote store
   * in advance. Duration, 10 ms … 10 seconds. Default: none.
   */
  lease?: Duration | undefined
  /**
   * The most requests of this limiter that wait in this process: for their turn in a leaky bucket,
   * and, counted separately, in `wait` and `acquire`. Further requests are refused. One key gets at
   * most half of the places. Integer, 0 … 10^6 requests. Default: `1000`.
   */
  maxWaiting?: number | undefined
}
