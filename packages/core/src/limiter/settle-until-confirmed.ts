import { unref } from '#platform'
import { endedUnits } from '../algorithms/held/claim.ts'
import { StoreError } from '../errors/store-error.ts'
import { isPromise, type MaybePromise } from '../maybe-promise.ts'
import type { Charge, Origin } from '../stores/store.ts'
import type { ChargeLimiter } from './charge-limiter.ts'

/** How long a settlement is made again that the store does not confirm; the first and the longest wait, ms. */
const REPEAT_FOR_MS = 3_600_000
const FIRST_WAIT_MS = 1000
const MAX_WAIT_MS = 10_000

/**
 * Corrects charges as `ChargeLimiter.settleCharges` does. Where the store does not confirm it, it goes on for an hour
 * in the background with those that end a reservation, of which each is made once. The others may
 * have been made or not, and are left so.
 *
 * @throws what is no StoreError
 */
export function settleUntilConfirmed(
  limiter: ChargeLimiter,
  charges: readonly Charge[],
  decision: { readonly policies: readonly Partial<Origin>[] },
  route?: string,
): MaybePromise<void> {
  const attempt = (
    again: readonly Charge[],
    waitMs = FIRST_WAIT_MS,
    triedMs = 0,
    isRepeated = false,
  ): MaybePromise<void> => {
    const failed = (error: unknown) => {
      if (!(error instanceof StoreError)) throw error
      const left = again.map((each) => (ends(each) ? each : { ...each, cost: 0, claim: undefined }))
      if (!left.some(ends) || triedMs + waitMs > REPEAT_FOR_MS) return
      const repeat = () => attempt(left, Math.min(2 * waitMs, MAX_WAIT_MS), triedMs + waitMs, true)
      unref(setTimeout(repeat, waitMs))
    }
    try {
      const settled = limiter.settleCharges(again, decision, route, isRepeated)
      return isPromise(settled) ? settled.catch(failed) : settled
    } catch (error) {
      return failed(error)
    }
  }
  return attempt(charges)
}

function ends({ claim }: Charge): boolean {
  return endedUnits(claim) !== undefined
}
