import { textOf } from '../errors/thrown.ts'
import { warnOnce } from '../errors/warning.ts'
import { isPromise } from '../maybe-promise.ts'
import type { Decision } from './decision.ts'

/** Passes a decision to `onDecision`. If that fails, the request continues. */
export function callOnDecision<Request>(
  onDecision: ((decision: Decision, request: Request, key: string) => unknown) | undefined,
  decision: Decision,
  request: Request,
  key: string,
): void {
  try {
    const reported = onDecision?.(decision, request, key)
    if (isPromise(reported)) void Promise.resolve(reported).catch(warnOfCallback)
  } catch (error) {
    warnOfCallback(error)
  }
}

function warnOfCallback(error: unknown): void {
  warnOnce(
    'SLUICE_ON_DECISION',
    `onDecision threw ${textOf(error)}. The decision is not affected. Fix the callback.`,
  )
}
