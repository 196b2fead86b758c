import { checkObject } from '../options/checks.ts'
import { checkKnown } from '../options/known.ts'
import { PLACES } from '../options/places.ts'
import type { BanOptions } from './ban.ts'
import type { EventOptions } from './event-options.generated.ts'
import type { Limiter } from './limiter.ts'
import type { PolicyOptions, StoreOptions } from './options.generated.ts'
import { Policy } from './policy.ts'
import { StoreLimiter } from './store-limiter.ts'

/** Where a limiter counts, and how it tells what it does. */
export type VaryingLimiterOptions = Omit<StoreOptions, 'ban'> & EventOptions

/** What the adapter decides, not its user. */
export interface VaryingPolicy extends Omit<PolicyOptions, 'limit'> {
  readonly ban?: BanOptions | undefined
}

/**
 * A limiter of one policy whose limit is given with each call, for an adapter to something that has
 * limits of its own: `consume(key, { limit })`. One count of a key serves all limits.
 *
 * @param options as the user wrote them
 * @throws SluiceError if an option is unknown, of the wrong type or out of range
 */
export function createVaryingLimiter(
  options: VaryingLimiterOptions,
  { ban, ...policy }: VaryingPolicy,
): Limiter {
  checkObject('options', options, 'the options of a limiter')
  checkKnown('', options, PLACES.varyingLimiter)
  const limit = () => undefined
  return new StoreLimiter(
    [new Policy('', { ...policy, limit })],
    { ...options, ...(ban && { ban }) },
    { onDecision: options.onDecision },
  )
}
