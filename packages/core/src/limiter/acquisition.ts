import { all, isPromise, type MaybePromise } from '../maybe-promise.ts'
import type { Answer, StoreMode } from '../stores/store.ts'
import { checkCost } from './arguments.ts'
import type { Decision } from './decision.ts'
import type { HeldSlot } from './held-slots.ts'

declare global {
  /** TypeScript has them since 5.2. */
  interface SymbolConstructor {
    readonly dispose: unique symbol
    readonly asyncDispose: unique symbol
  }
}

/**
 * A decision about slots, or about an estimate (`reserve`). This process holds and renews what it
 * has taken until it is given back or settled.
 */
export interface Acquisition<M extends StoreMode = StoreMode> extends Decision {
  /**
   * Corrects the charge to the real cost, and gives slots back at once, even if the estimate was
   * given back meanwhile because this process did not renew it. Further calls, and calls after a
   * refusal or `release`, do nothing. After a rejection, call it again within an hour: the estimate
   * is corrected only once.
   * @param cost units, an integer, 0 … 2^53 − 1
   * @throws SluiceError for a wrong cost; StoreError if the store does not confirm it. On a remote
   *   store, it rejects with them
   */
  settle(cost: number): Answer<M, void>
  /**
   * Gives slots back; an estimate stays charged. Further calls, and calls after a refusal, do
   * nothing. Never rejects: slots that the store does not take back are free after `hold`.
   */
  release(): Answer<M, void>
  /** Like `release`, for `using`. */
  [Symbol.dispose](): void
  /** Like `release`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>
}

/**
 * @param held undefined if the request was refused
 * @param correct corrects its charges to a cost; `isRepeated`: again, since the store has not confirmed it
 */
export function toAcquisition(
  decision: Decision,
  mode: StoreMode,
  held: HeldSlot | undefined,
  correct: (cost: number | undefined, isRepeated: boolean) => MaybePromise<void>,
): Acquisition {
  const done = mode === 'async' ? Promise.resolve() : undefined
  let settling: MaybePromise<void> | null = held === undefined ? done : null
  let wanted: number | undefined
  let isRepeated = false
  const settle = (cost = wanted): MaybePromise<void> => {
    if (settling !== null) return settling
    // A wrong one throws here, so that `release` can still keep the estimate.
    if (cost !== undefined) wanted = checkCost(cost)
    const corrected = correct(cost, isRepeated)
    isRepeated = true
    // Nothing is renewed any more, whether the store confirms it or not.
    const ended = held?.release()
    settling = all([corrected, ended])
    if (isPromise(settling)) {
      settling.catch(() => {
        settling = null
      })
    }
    return settling
  }
  const release = () => {
    const released = settle()
    return isPromise(released) ? released.catch(() => {}) : released
  }
  return {
    ...decision,
    // Where it answers by a promise, what is wrong rejects.
    settle: mode === 'async' ? async (cost) => settle(cost) : settle,
    release,
    [Symbol.dispose]: () => void release(),
    [Symbol.asyncDispose]: async () => release(),
  }
}
