import { checkObject } from '../options/checks.ts'
import { checkKnown } from '../options/known.ts'
import { OPTION_NAMES } from '../options/option-names.ts'
import type { RedisClient } from '../stores/redis/client.ts'
import type { Store } from '../stores/store.ts'
import type { Limiter } from './limiter.ts'
import type { LimiterOptions } from './limiter-options.generated.ts'
import { compilePolicies } from './policies.ts'
import { limiterOn } from './remote-limiter.ts'

/**
 * Creates a limiter without HTTP: it counts the keys that you pass. With the memory store, its
 * methods are synchronous; with a remote store, they return promises. `await` works for both.
 *
 * @throws SluiceError if an option is unknown, of the wrong type, out of range, or contradicts
 *   another
 */
export function createLimiter(options: LimiterOptions<'sync'>): Limiter<'sync'>
// An optional store would count in memory without one, so its type has no undefined.
export function createLimiter(
  options: LimiterOptions<'async'> & { store: Store<'async'> | RedisClient },
): Limiter<'async'>
export function createLimiter(options: LimiterOptions): Limiter
export function createLimiter(options: LimiterOptions): Limiter {
  checkObject('options', options, 'the options of a limiter')
  checkKnown('', options, OPTION_NAMES.limiter)
  const policies = compilePolicies(options, OPTION_NAMES.policy)
  for (const policy of policies) policy.assertStatic()
  return limiterOn(policies, options, { onDecision: options.onDecision })
}
