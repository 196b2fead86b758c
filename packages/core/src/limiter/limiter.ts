import { checkKnown, checkObject } from '../options/checks.ts'
import type { Duration } from '../options/duration.ts'
import type { RedisClient } from '../stores/redis/client.ts'
import type { Answer, DecisionSource, Store, StoreMode } from '../stores/store.ts'
import type { Decision } from './decision.ts'
import { compilePolicies } from './policies.ts'
import { POLICY_OPTIONS, type PolicyOptions } from './policy.ts'
import { STORE_OPTIONS, StoreLimiter, type StoreOptions } from './store-limiter.ts'

/** The terms of the only policy in the options themselves, or several `policies` that must all admit. */
export type LimiterOptions<M extends StoreMode = StoreMode> = StoreOptions<M> &
  (SinglePolicy | SeveralPolicies)

type SinglePolicy = Omit<PolicyOptions, 'name'> & { policies?: undefined }
type SeveralPolicies = { [option in keyof Omit<PolicyOptions, 'name'>]?: undefined } & {
  policies: readonly PolicyOptions[]
}

/** Without a store a limiter is in memory, so that one which may be missing does not count. */
type RemoteOptions = LimiterOptions<'async'> & { store: Store<'async'> | RedisClient }

/**
 * Counts keys. A wrong argument throws a SluiceError. With a remote store `settle`, `block` and
 * `reset` reject with a StoreError if the store does not confirm them; `consume` and `peek` never do.
 */
export interface Limiter<M extends StoreMode = StoreMode> {
  /**
   * Charges `cost` units to `key`, if every policy admits it. A refusal is a value and costs
   * nothing.
   * @param key 1 or more characters
   * @param options.cost units, an integer, 0 … 2^53 − 1, default 1; 0 is admitted while one remains
   * @param options.limit only where the policy's limit is a function of the request: its value
   * @throws SluiceError for a wrong argument
   */
  consume(key: string, options?: { cost?: number; limit?: number }): Answer<M, Decision>
  /** What a request would meet now: reads, changes nothing. */
  peek(key: string, options?: { limit?: number }): Answer<M, Decision>
  /**
   * Makes the key's quota whole and ends a block.
   * @param options.limit only for a bucket whose limit is a function of the request and so large
   *   that `limit` × window in ms exceeds 2^53: one to reset beside those that this process has met
   */
  reset(key: string, options?: { limit?: number }): Answer<M, void>
  /**
   * Corrects an earlier charge by `delta` units: negative gives back, positive charges more, into
   * debt if need be.
   * @param options.at when it was charged (`Decision.at`): once that window has gone, nothing
   *   changes. Default: now
   * @param options.source who admitted it (`Decision.source`): what this process has admitted by
   *   itself, the store knows nothing of. Default: `'store'`
   */
  settle(
    key: string,
    delta: number,
    options?: { at?: number; source?: DecisionSource; limit?: number },
  ): Answer<M, void>
  /**
   * Refuses the key for so long; then its quota is whole.
   * @param options.limit as with `reset`
   */
  block(key: string, duration: Duration, options?: { limit?: number }): Answer<M, void>
  /**
   * Ends the limiter and a store that it made itself. Clients and stores handed over stay open; with
   * the last limiter on a remote one goes what this process has counted and remembered beside it.
   */
  close(): void
}

const SINGLE_OPTIONS = POLICY_OPTIONS.filter((option) => option !== 'name')

/**
 * A limiter without HTTP: it counts what you hand it. With the memory store it answers at once,
 * with a remote one by a promise; `await` serves both.
 *
 * @throws SluiceError if an option is unknown, of the wrong type, out of range, or contradicts
 *   another
 */
export function createLimiter(options: LimiterOptions<'sync'>): Limiter<'sync'>
export function createLimiter(options: RemoteOptions): Limiter<'async'>
export function createLimiter(options: LimiterOptions): Limiter
export function createLimiter(options: LimiterOptions): Limiter {
  checkObject('options', options, 'the options of a limiter')
  checkKnown('', options, [...STORE_OPTIONS, 'policies', ...SINGLE_OPTIONS])
  const policies = compilePolicies(options, POLICY_OPTIONS)
  for (const policy of policies) policy.assertStatic()
  return new StoreLimiter(policies, options)
}
