import { type Decision, outright } from '../limiter/decision.ts'
import type { Charge } from '../stores/store.ts'
import type { WireState } from './fields/wire-state.ts'
import type { Refusal } from './refusal/refusal.ts'

/** What is to be done with a request that was decided. */
export interface Verdict {
  readonly decision: Decision
  /** How the policies stand, for the header fields. Undefined: none are to be sent. */
  readonly state: WireState | undefined
  /** Undefined: the request goes on. */
  readonly refusal: Refusal | undefined
  /** What it was charged. */
  readonly charges: readonly Charge[]
}

/** Of a request whose client has gone, and can't be known any more: it ends here, uncharged. */
export const left: Verdict = {
  decision: outright(false, 0, Infinity),
  state: undefined,
  refusal: undefined,
  charges: [],
}
