import { type Decision, decisionWithoutPolicy } from '../limiter/decision.ts'
import type { Charge } from '../stores/store.ts'
import type { FieldState } from './fields/field-state.ts'
import type { Refusal } from './refusal/refusal.ts'

/** What happens to a request after the decision. */
export interface Verdict {
  readonly decision: Decision
  /** The state of the policies, for the header fields. Undefined: none are sent. */
  readonly state: FieldState | undefined
  /** Undefined: the request continues. */
  readonly refusal: Refusal | undefined
  /** What it was charged. */
  readonly charges: readonly Charge[]
}

/** The verdict on a request whose client has gone before its address was known: it ends here, uncharged. */
export const clientGone: Verdict = {
  decision: decisionWithoutPolicy(false, 0, Infinity),
  state: undefined,
  refusal: undefined,
  charges: [],
}
