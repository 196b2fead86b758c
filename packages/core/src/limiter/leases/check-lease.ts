import { conflict } from '../../errors/conflict.ts'
import type { Store } from '../../stores/store.ts'
import type { Policy } from '../policy.ts'

/**
 * Checks that all else which was asked for can be had with leases.
 *
 * @param leaseMs the option `lease`, ms
 * @param hasBan whether the limiter has the option `ban`
 * @throws SluiceError
 */
export function checkLease(
  leaseMs: number,
  store: Store,
  policies: readonly Policy[],
  hasBan: boolean,
): void {
  if (store.mode === 'sync')
    throw conflict(
      'lease',
      'none, beside a store in this process',
      leaseMs,
      'Remove lease: a store in this process decides without a call.',
    )
  const beside = (option: string, reason: string) =>
    conflict(
      'lease',
      `none, beside ${option}`,
      leaseMs,
      `Remove lease or ${option}: ${reason}. Two limiters can have one each.`,
    )
  if (hasBan) throw beside('ban', 'a ban has to see every refusal')
  for (const policy of policies) {
    const option = policy.at.bind(policy)
    if (policy.holdsSlots) throw beside(option('concurrent'), 'a slot is of one request')
    if (policy.reserves) throw beside(option('reserve'), 'a reservation is of one request')
    if (policy.algorithm.options.maxDelay !== undefined)
      throw beside(option('algorithm'), 'the turns of a queue are of single requests')
    if (policy.live !== undefined) throw beside(option('live'), 'a lease is of one limit')
    if (policy.alertAt !== undefined)
      throw beside(option('alertAt'), 'the store would count what nobody has used yet')
    if (policy.enforced < 1)
      throw beside(option(policy.enforced === 0 ? 'dryRun' : 'enforce'), 'it refuses nothing')
    if (policy.windowVaries)
      throw beside(option('window'), 'a function of the request has many windows')
    if (policy.windowMs < leaseMs)
      throw conflict(
        'lease',
        `at most the window of ${policy.windowMs} ms`,
        leaseMs,
        'Choose a shorter lease: a tenth of the window, or less.',
      )
  }
}
