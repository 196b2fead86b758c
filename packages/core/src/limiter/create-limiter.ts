import { checkKnown, checkObject } from '../options/checks.ts'
import type { RedisClient } from '../stores/redis/client.ts'
import type { Store, StoreMode } from '../stores/store.ts'
import type { Limiter } from './limiter.ts'
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
