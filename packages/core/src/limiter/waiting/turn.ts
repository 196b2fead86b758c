import type { MaybePromise } from '../../maybe-promise.ts'
import type { Answer, StoreMode } from '../../stores/store.ts'
import type { Decision } from '../decision.ts'

/** A decision about a turn of a leaky bucket. If admitted, the turn comes in `delayMs`. */
export interface Turn<M extends StoreMode = StoreMode> extends Decision {
  /**
   * Gives back the part of the turn that has not passed, if no later turn has been taken. Otherwise
   * the turn stays unused, since later turns keep their times. Other policies get their units back
   * in any case. Further calls, and calls after a refusal, do nothing.
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
