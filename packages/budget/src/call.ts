import type { Decision } from '@sluice/core'
import { usedOf } from '@sluice/core/internal'
import type { Level } from './level.ts'
import type { Usage } from './options.ts'

/** The state of a level. Amounts are in the budget's unit; times are ms from the decision. */
export interface LevelDecision {
  /** Its name; `'run'`; or `'calls'` and `'toolCalls'`, which count those of a run. */
  readonly level: string
  /** False if it refuses. */
  readonly allowed: boolean
  readonly limit: number
  /** Spent and reserved, including this call if it is admitted. Above the limit, it is a debt. */
  readonly used: number
  /** The amount that would still fit. */
  readonly remaining: number
  /** When its window ends. */
  readonly resetMs: number
}

/** The decision of a budget about a call. */
export interface BudgetDecision {
  readonly allowed: boolean
  /**
   * Why not: `'budget'`, a level has too little left; `'busy'`, it has too many calls in progress; `'price'`, no price
   * covers the call; `'store'`, the store does not answer. Undefined if it is allowed.
   */
  readonly reason: 'budget' | 'busy' | 'price' | 'store' | undefined
  /** The level that refuses, or else the one with the least left. Undefined if none decided. */
  readonly level: string | undefined
  /** The amount that is reserved, or would have been; 0 if the model has no price. */
  readonly cost: number
  /** The amount that would fit on all levels. */
  readonly remaining: number
  /** When the window of `level` ends, ms. */
  readonly resetMs: number
  /** 0 if it is allowed; else the shortest wait that is enough, ms. `Infinity`: it never fits. */
  readonly retryAfterMs: number
  /** All levels, from the innermost to the outermost, then the run, and those that it is in. */
  readonly levels: readonly LevelDecision[]
}

/**
 * A decision, and the reservation for its call, until it is settled or released, or this process
 * ends.
 */
export interface BudgetCall extends BudgetDecision {
  /**
   * Charges the real usage instead of the estimate, and ends the reservation. If the usage has no
   * price or no numbers, the estimate stays charged. Further calls do nothing. Never rejects: if
   * the store does not confirm it, it retries for an hour.
   */
  settle(usage: Usage): Promise<void>
  /**
   * Leaves the estimate charged, or the usage if that is more, and ends the reservation. Does
   * nothing after `settle`. Never rejects.
   * @param seen the usage that is known so far
   */
  release(seen?: Usage): Promise<void>
  /** Charges nothing, and ends the reservation: for a call that was certainly not made. Never rejects. */
  cancel(): Promise<void>
  /** Like `release`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>
}

const MESSAGES = {
  budget: 'The budget of the LEVEL has too little left for this call.',
  busy: 'The LEVEL has too many calls in progress. Try again in a second.',
  price: 'No price covers this call, so no budget admits it.',
  store: 'No budget can be checked at present.',
  toolCalls: 'The run has made all the tool calls that it may. It has ended.',
}

/** A refusal as an error, from `aiSdk` and for handlers that throw. */
export class BudgetError extends Error {
  override readonly name = 'BudgetError'
  readonly code = 'SLUICE_BUDGET'
  readonly decision: BudgetDecision

  constructor(decision: BudgetDecision) {
    super(messageOf(decision))
    this.decision = decision
  }
}

export function messageOf({ reason = 'budget', level }: BudgetDecision): string {
  const isOfTools = reason === 'budget' && level === 'toolCalls'
  return MESSAGES[isOfTools ? level : reason].replace('LEVEL', `${level}`)
}

/**
 * @param made the levels of the policies
 * @param shown an amount in the budget's unit
 * @param cost integers
 * @param refused why it is refused, if it is
 */
export function toBudgetDecision(
  { allowed, policies, retryAfterMs }: Pick<Decision, 'allowed' | 'policies' | 'retryAfterMs'>,
  made: readonly Level[],
  shown: (units: number) => number,
  cost: number,
  refused: BudgetDecision['reason'] = policies.length === 0 ? 'store' : 'budget',
): BudgetDecision {
  const all = new Map<string, LevelDecision>()
  for (const [i, { allowed, resetMs, excess, ...counted }] of policies.entries()) {
    const { name, shown: level } = made[i] as Level
    const show = level === 'calls' || level === 'toolCalls' ? Number : shown
    // The one beyond the last is counted, and did not run.
    const beyond = level === 'toolCalls' ? 1 : 0
    const limit = counted.limit - beyond
    const remaining = Math.max(0, counted.remaining - beyond)
    const used = show(usedOf({ limit, remaining, excess }))
    const each = { level, allowed, limit: show(limit), used, remaining: show(remaining), resetMs }
    // Of the weeks of a run, the one that has less left.
    if (each.remaining < (all.get(name)?.remaining ?? Infinity)) all.set(name, each)
  }
  const levels = [...all.values()]
  const leftOf = ({ level, remaining, allowed }: LevelDecision) =>
    level === 'calls' || (level === 'toolCalls' && allowed) ? Number.MAX_VALUE : remaining
  // Where they are busy, the innermost one that refuses.
  const least = (a: LevelDecision, b: LevelDecision) =>
    Number(a.allowed) - Number(b.allowed) || (refused === 'busy' ? 0 : leftOf(a) - leftOf(b))
  const [binding] = levels.toSorted(least)
  return {
    allowed,
    reason: allowed ? undefined : refused,
    level: binding?.level,
    cost: shown(cost),
    remaining: levels.length === 0 ? 0 : Math.min(...levels.map(leftOf)),
    resetMs: binding?.resetMs ?? 0,
    retryAfterMs,
    levels,
  }
}

/** The decision about a call without a price. */
export const unpriced = toBudgetDecision(
  { allowed: false, policies: [], retryAfterMs: Infinity },
  [],
  Number,
  0,
  'price',
)

/** @param ends the ways to end it. Left out: nothing is reserved */
export function toCall(
  decision: BudgetDecision,
  ends: Pick<BudgetCall, 'settle' | 'release' | 'cancel'> = NOTHING,
): BudgetCall {
  return { ...decision, ...ends, [Symbol.asyncDispose]: () => ends.release() }
}

const nothing = async () => {}
const NOTHING = { settle: nothing, release: nothing, cancel: nothing }
