import type { Anchor } from '../algorithms/calendar-window/anchor.ts'
import type { Duration } from '../options/duration.ts'
import type { Answer, DecisionSource, StoreMode } from '../stores/store.ts'
import type { Acquisition } from './acquisition.ts'
import type { Decision } from './decision.ts'
import type { PolicyControl } from './live/policy-state.ts'
import type { Turn } from './waiting/turn.ts'

/** The values that an adapter would read from a request, for options that are functions of it. */
export interface LimitOptions {
  /** The value of the policy's `limit`, only where that is a function of the request. */
  limit?: number
  /** The value of the policy's `anchor`, only where that is a function of the request. */
  anchor?: Anchor | undefined
  /** The value of the policy's `window`, only where that is a function of the request. */
  window?: Duration
}

/** The client of a call, if the key does not identify it. */
export interface ClientOptions {
  /**
   * The client's address, to check against blocked networks. Default: the key, if it is an address
   * or a network
   */
  address?: string
}

/** How a call waits to be admitted. */
export interface WaitOptions {
  /** The longest that it waits, 0 … ten years. Default: until it is admitted */
  readonly maxWait?: Duration | undefined
  /** Aborting it ends the wait, and nothing is charged. Default: none */
  readonly signal?: AbortSignal | undefined
  /**
   * Higher numbers go first among the calls that wait for the same key: an integer, -1000 … 1000.
   * Default: 0
   */
  readonly priority?: number | undefined
}

/** Which charge is corrected. */
export interface SettleOptions extends LimitOptions {
  /**
   * When it was charged (`Decision.at`). If that window has passed, nothing changes. Default: now
   */
  at?: number
  /**
   * The source of its admission (`Decision.source`): the store does not know what this process
   * admitted on its own. Default: `'store'`
   */
  source?: DecisionSource
  /**
   * Only for a leaky bucket: what remained after the charge (`PolicyDecision.remaining`). If others
   * have since taken later turns, they keep them, and nothing is given back. If the charge was
   * corrected before, subtract those corrections (add what was given back). Default: gives back
   * only if the bucket had nothing else
   */
  remaining?: number
}

export interface BlockOptions {
  /**
   * Quotas to act on in addition to those that this process has used. Only if the window is a
   * function of the request: the window's length, since each length has its own quota.
   */
  window?: Duration
  /** The key is a network of addresses, such as `203.0.113.0/24`, and not the key of a client. */
  network?: boolean
}

/** The options for a list of networks. */
export interface NetworkOptions extends BlockOptions {
  network: true
}

/** Chooses one of several policies, or its numbers if they are functions of the request. */
interface PolicyChoice {
  /** The name of the policy. Default: the only one */
  readonly policy?: string
  /**
   * The length of the window, only if that is a function of the request: each length has its own
   * quota.
   */
  readonly window?: Duration
}

/** A client's own limit. */
export interface OverrideOptions extends PolicyChoice {
  /** Units per window, in the range of the option `limit`; 0 refuses everything; null ends the override. */
  readonly limit: number | null
  /** When it ends: a date, or ms since the epoch. Default: never */
  readonly until?: Date | number | undefined
}

/** A top-up. */
export interface GrantOptions extends PolicyChoice {
  /**
   * When it ends: a date, or ms since the epoch. Until then, it adds the units to each window.
   * Default: at the end of the current window
   */
  readonly until?: Date | number | undefined
  /**
   * Tells it apart: with an id that the key has had in this policy, and that has not ended, nothing
   * changes. 1 or more characters. Default: each is another one
   */
  readonly id?: string | undefined
  /** The value of the policy's `anchor`, only where that is a function of the request. */
  readonly anchor?: Anchor | undefined
}

/**
 * Limits keys. A wrong argument throws a SluiceError; a method that returns a promise rejects with
 * it. With a remote store, `settle`, `block`, `reset`, `override` and `grant` also reject with a
 * StoreError if the store does not confirm them; `consume`, `wait` and `peek` never do.
 */
export interface Limiter<M extends StoreMode = StoreMode> {
  /** Changes the policies that have the option `live`, in every process of a shared store. */
  readonly policies: PolicyControl
  /**
   * Charges `cost` units to `key` if every policy admits it. A refusal is a value and costs
   * nothing.
   * @param key 1 or more characters
   * @param options.cost units, an integer, 0 … 2^53 − 1, default 1; 0 is admitted while one remains
   * @throws SluiceError for a wrong argument, and if a policy has `concurrent` or `reserve`: see
   *   `acquire`
   */
  consume(
    key: string,
    options?: { cost?: number } & ClientOptions & LimitOptions,
  ): Answer<M, Decision>
  /**
   * Waits until every policy admits `key`, with a leaky bucket until its turn, and charges `cost`
   * units. In this process, waiting calls of the same key go by priority, then first come, first
   * served. Bans count no refusals meanwhile. Waiting keeps the process alive.
   * @param key 1 or more characters
   * @param options.cost units, an integer, 0 … 2^53 − 1, default 1
   * @returns the decision that admitted it. Rejects with a WaitError as soon as it is certain that
   *   `maxWait` is not enough, or that it can never be admitted; if too many wait (`maxWaiting`);
   *   if the signal is aborted; or if the limiter is closed. Rejects with a SluiceError for a wrong
   *   argument, or if a policy has `concurrent` or `reserve`
   */
  wait(
    key: string,
    options?: { cost?: number } & WaitOptions & ClientOptions & LimitOptions,
  ): Promise<Decision>
  /**
   * Charges `cost` units to `key`, like `consume`, for a turn of a leaky bucket that comes in
   * `delayMs`. Wait for it, or give it back with `cancel`.
   * @param options.cost units, an integer, 0 … 2^53 − 1, default 1
   * @throws SluiceError for a wrong argument, and if the limiter has no policy with `algorithm:
   *   'leaky-bucket'`, or one with `concurrent` or `reserve`
   */
  takeTurn(
    key: string,
    options?: { cost?: number } & ClientOptions & LimitOptions,
  ): Answer<M, Turn<M>>
  /**
   * Takes a slot of each policy with `concurrent`, and charges the others, if every policy admits
   * it. Give the slots back with `release`, or declare the result with `await using`; `settle` also
   * corrects the charges. Those of a policy with `reserve` end with this process.
   * @param options.cost units of the other policies, as for `consume`
   * @param options.maxWait the longest that it waits, like `wait`. Default: it does not wait
   * @throws SluiceError for a wrong argument, and if no policy has `concurrent` or `reserve`
   */
  acquire(
    key: string,
    options: { cost?: number; maxWait: Duration } & WaitOptions & ClientOptions & LimitOptions,
  ): Promise<Acquisition<M>>
  acquire(
    key: string,
    options?: { cost?: number; maxWait?: undefined } & ClientOptions & LimitOptions,
  ): Answer<M, Acquisition<M>>
  /** The decision that a request would get now; changes nothing. */
  peek(key: string, options?: ClientOptions & LimitOptions): Answer<M, Decision>
  /**
   * Makes the key's quota full, ends a block or a ban, and forgets the refusals that were counted.
   * Slots in use count again when their process renews them, after at most a third of `hold`. For a
   * network, it ends the block of exactly this network.
   */
  reset(key: string, options?: BlockOptions): Answer<M, void>
  reset(networks: readonly string[], options: NetworkOptions): Answer<M, void>
  /**
   * Corrects an earlier charge by `delta` units: negative gives back, positive charges more, into
   * debt if necessary. It changes no slots: `release` gives them back.
   */
  settle(key: string, delta: number, options?: SettleOptions): Answer<M, void>
  /**
   * Gives the key its own limit in a policy, replacing an earlier one. It applies from the next
   * request on, in every process on the store; counts stay. `reset`, blocks and inactivity do not
   * end it.
   * @param override null ends the key's own limits in every policy, but not top-ups
   * @throws SluiceError for a wrong argument, and if the store can't keep it
   */
  override(key: string, override: OverrideOptions | null): Answer<M, void>
  /**
   * Tops up the key's limit in a policy: adds units until the current window ends. It adds to
   * `override` and to other top-ups.
   * @param units 1 … 10^12
   * @returns false if a top-up with this id is still in force: then nothing changes
   * @throws SluiceError for a wrong argument, if the policy's algorithm has no window, and if the
   *   store can't keep it, or has 32 of this key
   */
  grant(key: string, units: number, options?: GrantOptions): Answer<M, boolean>
  /**
   * Refuses the key for this time, replacing a ban; then its quota is full, as after `reset`. With
   * a network, it refuses all clients with an address in it, in every limiter with the same store
   * and `prefix`: in this process at once, in the others within two seconds. Their quotas stay as
   * they are. A list of networks is blocked atomically.
   * @throws SluiceError also for a network shorter than /8 (IPv6: /16), if 10,000 networks are
   *   blocked, and if the store can't keep networks
   */
  block(key: string, duration: Duration, options?: BlockOptions): Answer<M, void>
  block(networks: readonly string[], duration: Duration, options: NetworkOptions): Answer<M, void>
  /**
   * Closes the limiter and a store that it created itself, and rejects waiting calls. Clients and
   * stores that you passed stay open. When the last limiter on a remote store closes, this process
   * forgets its local counts and refusals.
   */
  close(): void
}
