import type { Anchor } from '../algorithms/calendar-window/anchor.ts'
import type { Duration } from '../options/duration.ts'
import type { Answer, DecisionSource, StoreMode } from '../stores/store.ts'
import type { Acquisition } from './acquisition.ts'
import type { Decision } from './decision.ts'

/** What an adapter would read from a request, for options that are functions of it. */
export interface LimitOptions {
  /** The value of the policy's `limit`, only where that is a function of the request. */
  limit?: number
  /** The value of the policy's `anchor`, only where that is a function of the request. */
  anchor?: Anchor | undefined
  /** The value of the policy's `window`, only where that is a function of the request. */
  window?: Duration
}

/**
 * Quotas to act on besides those that this process has used. Only where an option is a function of the
 * request.
 */
export interface KeyspaceOptions {
  /** A bucket's limit, only if `limit` × window in ms exceeds 2^53: such a limit has a quota of its own. */
  limit?: number
  /** A length of the window: each has a quota of its own. */
  window?: Duration
}

/**
 * Limits keys. A wrong argument throws a SluiceError. With a remote store `settle`, `block` and
 * `reset` reject with a StoreError if the store does not confirm them; `consume` and `peek` never do.
 */
export interface Limiter<M extends StoreMode = StoreMode> {
  /**
   * Charges `cost` units to `key`, if every policy admits it. A refusal is a value and costs
   * nothing.
   * @param key 1 or more characters
   * @param options.cost units, an integer, 0 … 2^53 − 1, default 1; 0 is admitted while one remains
   * @throws SluiceError for a wrong argument, and if a policy has `concurrent`: see `acquire`
   */
  consume(key: string, options?: { cost?: number } & LimitOptions): Answer<M, Decision>
  /**
   * Takes a slot of each policy with `concurrent`, and charges the others, if every policy admits
   * it. Give the slots back with `release`, or declare the result with `await using`.
   * @param options.cost units of the other policies, as for `consume`
   * @throws SluiceError for a wrong argument, and if no policy has `concurrent`
   */
  acquire(key: string, options?: { cost?: number } & LimitOptions): Answer<M, Acquisition<M>>
  /** The decision that a request would get now; changes nothing. */
  peek(key: string, options?: LimitOptions): Answer<M, Decision>
  /**
   * Makes the key's quota whole, ends a block or a ban, and forgets the refusals that were counted.
   * Slots in use count again when their process renews them, after a third of `hold` at most.
   */
  reset(key: string, options?: KeyspaceOptions): Answer<M, void>
  /**
   * Corrects an earlier charge by `delta` units: negative gives back, positive charges more, into
   * debt if necessary. It changes no slots: `release` gives them back.
   * @param options.at when it was charged (`Decision.at`): once that window has passed, nothing
   *   changes. Default: now
   * @param options.source who admitted it (`Decision.source`): the store does not know what this
   *   process has admitted by itself. Default: `'store'`
   */
  settle(
    key: string,
    delta: number,
    options?: { at?: number; source?: DecisionSource } & LimitOptions,
  ): Answer<M, void>
  /** Refuses the key for this time, in place of a ban; then its quota is whole, as after `reset`. */
  block(key: string, duration: Duration, options?: KeyspaceOptions): Answer<M, void>
  /**
   * Closes the limiter and a store that it made itself. Clients and stores that you passed stay open.
   * When the last limiter on a remote store closes, this process forgets its local counts and refusals.
   */
  close(): void
}
