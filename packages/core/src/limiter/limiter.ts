import type { Anchor } from '../algorithms/calendar-window/anchor.ts'
import type { Duration } from '../options/duration.ts'
import type { Answer, DecisionSource, StoreMode } from '../stores/store.ts'
import type { Acquisition } from './acquisition.ts'
import type { Decision } from './decision.ts'
import type { PolicyControl } from './live/policy-control.ts'
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

/** The client of a call, where its key does not tell. */
export interface ClientOptions {
  /**
   * The client's address, which blocked networks are compared with. Default: the key, if it is an address or
   * a network
   */
  address?: string
}

/** How a call waits for its admission. */
export interface WaitOptions {
  /** The longest that it waits, 0 … ten years. Default: until it is admitted */
  readonly maxWait?: Duration | undefined
  /** Ends the wait when it is aborted; then nothing is charged. Default: none */
  readonly signal?: AbortSignal | undefined
  /** Among those who wait for the same key, higher ones come first: an integer, -1000 … 1000. Default: 0 */
  readonly priority?: number | undefined
}

/** Which charge is corrected. */
export interface SettleOptions extends LimitOptions {
  /** When it was charged (`Decision.at`): once that window has passed, nothing changes. Default: now */
  at?: number
  /**
   * The source of its admission (`Decision.source`): the store does not know the admissions of this process alone.
   * Default: `'store'`
   */
  source?: DecisionSource
  /**
   * Only for a leaky bucket: what remained after the charge (`PolicyDecision.remaining`). Others may have taken later
   * turns since, which they keep: then nothing is given back. If the charge was corrected before, subtract those
   * corrections (add what was given back). Default: gives back only if the bucket had nothing else
   */
  remaining?: number
}

export interface BlockOptions {
  /**
   * Quotas to act on besides those that this process has used. Only where the window is a function of the
   * request: a length of it, each of which has a quota of its own.
   */
  window?: Duration
  /** The key is a network of addresses, such as `203.0.113.0/24`, and not the key of a client. */
  network?: boolean
}

/** The options for a list of networks, which nobody can mistake for keys of clients. */
export interface NetworkOptions extends BlockOptions {
  network: true
}

/** Chooses one of several policies, or its numbers where they are functions of the request. */
interface PolicyChoice {
  /** The name of the policy. Default: the only one */
  readonly policy?: string
  /** The length of the window, only where that is a function of the request: each has a quota of its own. */
  readonly window?: Duration
}

/** A client's own limit. */
export interface OverrideOptions extends PolicyChoice {
  /** Units per window, in the range of the option `limit`; 0 refuses everything; null ends the override. */
  readonly limit: number | null
  /** When it ends: a date, or ms since the epoch. Default: when it is ended */
  readonly until?: Date | number | undefined
}

/** A top-up. */
export interface GrantOptions extends PolicyChoice {
  /**
   * When it ends: a date, or ms since the epoch. It adds the units to each window until then. Default: with the
   * present window
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
 * Limits keys. A wrong argument throws a SluiceError; a method that returns a promise rejects with it. With a remote
 * store `settle`, `block`, `reset`, `override` and `grant` also reject with a StoreError if the store does not confirm
 * them; `consume`, `wait` and `peek` never do.
 */
export interface Limiter<M extends StoreMode = StoreMode> {
  /** Changes the policies that have the option `live`, in every process of a shared store. */
  readonly policies: PolicyControl
  /**
   * Charges `cost` units to `key`, if every policy admits it. A refusal is a value and costs
   * nothing.
   * @param key 1 or more characters
   * @param options.cost units, an integer, 0 … 2^53 − 1, default 1; 0 is admitted while one remains
   * @throws SluiceError for a wrong argument, and if a policy has `concurrent` or `reserve`: see `acquire`
   */
  consume(
    key: string,
    options?: { cost?: number } & ClientOptions & LimitOptions,
  ): Answer<M, Decision>
  /**
   * Charges `cost` units to `key` as soon as every policy admits it, and waits until then, of a leaky bucket until its
   * turn has come. Those who wait for the same key in this process are served by priority, then first come, first
   * served. No ban counts refusals meanwhile. The process stays alive.
   * @param key 1 or more characters
   * @param options.cost units, an integer, 0 … 2^53 − 1, default 1
   * @returns the decision that has admitted it; a rejection with a WaitError as soon as it is certain that `maxWait`
   *   is not enough, or that it can never be admitted, if too many wait (`maxWaiting`), if the signal is aborted, and
   *   if the limiter is closed; with a SluiceError for a wrong argument, and if a policy has `concurrent` or `reserve`
   */
  wait(
    key: string,
    options?: { cost?: number } & WaitOptions & ClientOptions & LimitOptions,
  ): Promise<Decision>
  /**
   * Charges `cost` units to `key` as `consume` does, for a turn of a leaky bucket: `delayMs` says in how many ms it
   * comes. The caller waits for it, or gives it back by `cancel`.
   * @param options.cost units, an integer, 0 … 2^53 − 1, default 1
   * @throws SluiceError for a wrong argument, and if the limiter has no policy with `algorithm: 'leaky-bucket'`, or
   *   one with `concurrent` or `reserve`
   */
  takeTurn(
    key: string,
    options?: { cost?: number } & ClientOptions & LimitOptions,
  ): Answer<M, Turn<M>>
  /**
   * Takes a slot of each policy with `concurrent`, and charges the others, if every policy admits
   * it. Give the slots back with `release`, or declare the result with `await using`; `settle` also corrects the
   * charges. Those of a policy with `reserve` end with this process.
   * @param options.cost units of the other policies, as for `consume`
   * @param options.maxWait waits as `wait` does, for so long at most. Default: it does not wait
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
   * Slots in use count again when their process renews them, after a third of `hold` at most. Of a network, it
   * ends the block: of exactly this one, whatever networks it is part of.
   */
  reset(key: string, options?: BlockOptions): Answer<M, void>
  reset(networks: readonly string[], options: NetworkOptions): Answer<M, void>
  /**
   * Corrects an earlier charge by `delta` units: negative gives back, positive charges more, into
   * debt if necessary. It changes no slots: `release` gives them back.
   */
  settle(key: string, delta: number, options?: SettleOptions): Answer<M, void>
  /**
   * Gives the key an own limit in a policy, in place of the one that it may have, until it ends or is ended. It
   * applies from the next request on, in every process of a shared store; counts stay. Nothing else ends it:
   * neither `reset`, nor a block, nor that the client does not come.
   * @param override null ends what the key has in every policy, but for top-ups
   * @throws SluiceError for a wrong argument, and if the store can't keep it
   */
  override(key: string, override: OverrideOptions | null): Answer<M, void>
  /**
   * Adds units to the key's limit in a policy, until the present window ends: a top-up. It composes with `override`
   * and with other top-ups.
   * @param units 1 … 10^12
   * @returns false if a top-up with this id has been made, and has not ended: nothing has changed then
   * @throws SluiceError for a wrong argument, if the policy's algorithm has no window, and if the store
   *   can't keep it, or has 32 of this key
   */
  grant(key: string, units: number, options?: GrantOptions): Answer<M, boolean>
  /**
   * Refuses the key for this time, in place of a ban; then its quota is full, as after `reset`. Of a network,
   * it refuses all clients with an address in it, in every limiter with the same store and `prefix`: in this
   * process at once, in the others within two seconds. Their quotas stay as they are. A list of networks is
   * blocked in one step, all or none of them: each call rewrites what is blocked.
   * @throws SluiceError also for a network shorter than /8 (IPv6: /16), if 10,000 networks are blocked, and if
   *   the store can't keep networks
   */
  block(key: string, duration: Duration, options?: BlockOptions): Answer<M, void>
  block(networks: readonly string[], duration: Duration, options: NetworkOptions): Answer<M, void>
  /**
   * Closes the limiter and a store that it made itself, and rejects those who wait. Clients and stores that you passed
   * stay open.
   * When the last limiter on a remote store closes, this process forgets its local counts and refusals.
   */
  close(): void
}
