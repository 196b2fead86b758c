import type { AlgorithmParams, Outcome } from '../algorithm.ts'

/** ms since the epoch: here a second, a minute and an hour begin. */
export const START = 1_800_000_000_000
/** ms */
export const HOUR = 3_600_000
/** ms */
export const MONTH = 2_592_000_000
/** ms, as the unit `y` of durations */
export const YEAR = 31_557_600_000
/** ms: the longest window */
export const TEN_YEARS = 315_576_000_000

/** Steps on one key, with the result of each by the definition of the algorithm. */
export interface Trace<S = Step> {
  readonly name: string
  readonly params: AlgorithmParams
  /** ms since the epoch: the moment that the steps call 0. */
  readonly from: number
  readonly steps: readonly S[]
}

/** The traces of a policy, by their names. @param policy with the moment that the steps call 0, unless that is `START` */
export function traces<S = Step>(
  { from = START, ...params }: AlgorithmParams & { readonly from?: number },
  named: Readonly<Record<string, readonly S[]>>,
): Trace<S>[] {
  return Object.entries(named).map(([name, steps]) => ({ name, params, from, steps }))
}

export type Step = Consumed | Settled

interface Consumed {
  /** ms from the trace's start on the store's clock, which may go backwards. */
  readonly at: number
  readonly cost: number
  /** The slot that is taken, or corrected, if the algorithm counts slots. */
  readonly slot?: number | undefined
  readonly expect: Outcome
}

interface Settled {
  readonly at: number
  readonly delta: number
  readonly chargedAt: number
  readonly slot?: number | undefined
  /** The units that remained after the charge, if the algorithm queues. */
  readonly remaining?: number | undefined
  /** The result of a peek straight after. */
  readonly expect: Pick<Outcome, 'remaining' | 'resetMs'>
}

type Admission = Pick<Outcome, 'remaining' | 'resetMs' | 'effectiveMs'> & { delayMs?: number }

export function admits(at: number, cost: number, expected: Admission, slot?: number): Step {
  return { at, cost, slot, expect: { admitted: true, retryAfterMs: 0, delayMs: 0, ...expected } }
}

type RefusedOutcome = Pick<Outcome, 'remaining' | 'resetMs' | 'retryAfterMs'>

export function refuses(at: number, cost: number, expected: RefusedOutcome): Step {
  const effectiveMs = expected.retryAfterMs
  return { at, cost, expect: { admitted: false, effectiveMs, delayMs: 0, ...expected } }
}

/** @param charge the correction in units, and when the charge was made that it corrects */
export function settles(
  at: number,
  charge: { delta: number; chargedAt: number; slot?: number; remaining?: number },
  expect: Settled['expect'],
): Step {
  return { at, ...charge, expect }
}
