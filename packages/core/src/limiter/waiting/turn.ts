import type { MaybePromise } from '../../maybe-promise.ts'
import type { Answer, StoreMode } from '../../stores/store.ts'
import type { Decision } from '../decision.ts'

/** A decision about a turn of a leaky bucket: once admitted, it comes in `delayMs`. */
export interface Turn<M extends StoreMode = StoreMode> extends Decision {
  /**
   * Gives the turn back if no later one has been taken, as far as it has not passed. Otherwise it stays empty, since
   * the later turns keep their times. Other policies get their units back in any case. Further calls, and one after a refusal, do nothing.
   * @throws StoreError, or a rejection with it, if the store does not confirm it
   */
  cancel(): Answer<M, void>
}

/** @param undo gives back its charges */
export function toTurn(decision: Decision, mode: StoreMode, undo: () => MaybePromise<void>): Turn {
  let isOver = !decision.allowed
  const cancel = () => {
    if (isOver) return mode === 'async' ? Promise.resolve() : undefined
    isOver = true
    return undo()
  }
  return { ...decision, cancel }
}
