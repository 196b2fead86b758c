import type { Decision } from '@sluice/core'
import { usedOf } from '@sluice/core/adapter'
import type { Money } from './money.ts'
import type { Usage } from './options.ts'

/** How a level stands. Amounts are in the budget's unit; times are ms from the decision on. */
export interface LevelDecision {
  /** Its name; `'run'`, or `'calls'`, which counts the calls of a run. */
  readonly level: string
  /** False if it refuses. */
  readonly allowed: boolean
  readonly limit: number
  /** Spent and reserved, with this call if it is admitted. Above the limit it is a debt. */
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
  /** The level that refuses, else the one with the least left. Undefined if none decided. */
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

/** A decision, and what is reserved for its call until it is settled or released, or this process ends. */
export interface BudgetCall extends BudgetDecision {
  /**
   * Charges what the call has used in place of the estimate, and ends the reservation. Usage without a price, or
   * without numbers, leaves the estimate charged. Further calls do nothing. Never rejects: what the store does not
   * confirm is repeated for an hour.
   */
  settle(usage: Usage): Promise<void>
  /**
   * Leaves the estimate charged, or what has been used if that is more, and ends the reservation. After `settle` it does
   * nothing. Never rejects.
   * @param seen what it has used at least
   */
  release(seen?: Usage): Promise<void>
  /** Charges nothing, and ends the reservation: for a call that was certainly not made. Never rejects. */
  cancel(): Promise<void>
  /** Does what `release` does, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>
}

/** How long nothing has been seen to happen for a call. */
export interface Activity {
  quietMs(): number | undefined
}

/** A refusal, as an error: of `aiSdk`, and for handlers that throw. */
export class BudgetError extends Error {
  override readonly name = 'BudgetError'
  readonly code = 'SLUICE_BUDGET'
  readonly decision: BudgetDecision

  constructor(decision: BudgetDecision) {
    super(messageOf(decision))
    this.decision = decision
  }
}

export function messageOf({ reason, level }: BudgetDecision): string {
  if (reason === 'price') return 'No price covers this call, so no budget admits it.'
  if (reason === 'busy')
    return `The ${level} has too many calls in progress. Try again in a second.`
  if (reason === 'store') return 'No budget can be checked at present.'
  return `The budget of the ${level} has too little left for this call.`
}

/** The decision about a call without a price. */
export const unpriced: BudgetDecision = {
  allowed: false,
  reason: 'price',
  level: undefined,
  cost: 0,
  remaining: 0,
  resetMs: 0,
  retryAfterMs: Infinity,
  levels: [],
}

/**
 * @param cost integers
 * @param refused why it is refused, if it is
 */
export function toBudgetDecision(
  { allowed, policies, retryAfterMs }: Pick<Decision, 'allowed' | 'policies' | 'retryAfterMs'>,
  money: Money,
  cost: number,
  refused: BudgetDecision['reason'] = policies.length === 0 ? 'store' : 'budget',
): BudgetDecision {
  const levels = new Map<string, LevelDecision>()
  let binding: LevelDecision | undefined
  for (const { name, unit, ...policy } of policies) {
    // The names of runs: see inWeeks.
    const [id, level = id] = /^(run|calls)(\.\d+)?(?=-2$|$)/.exec(name) ?? [name]
    const show = (units: number) => (unit === 'calls' ? units : money.shown(units))
    const { limit, remaining, resetMs } = policy
    const amounts = {
      limit: show(limit),
      used: show(usedOf(policy)),
      remaining: show(remaining),
    }
    const each = { level, allowed: policy.allowed, ...amounts, resetMs }
    const other = levels.get(id)
    if (other === undefined || other.remaining > each.remaining) levels.set(id, each)
  }
  for (const each of levels.values())
    if (binding === undefined || binds(each, binding)) binding = each
  const ofMoney = [...levels.values()].filter(({ level }) => level !== 'calls')
  return {
    allowed,
    reason: allowed ? undefined : refused,
    level: binding?.level,
    cost: money.shown(cost),
    remaining: ofMoney.length === 0 ? 0 : Math.min(...ofMoney.map(({ remaining }) => remaining)),
    resetMs: binding?.resetMs ?? 0,
    retryAfterMs,
    levels: [...levels.values()],
  }
}

/** @param ends the ways to end it. Left out: nothing is reserved */
export function toCall(
  decision: BudgetDecision,
  ends: Pick<BudgetCall, 'settle' | 'release' | 'cancel'> = NOTHING,
): BudgetCall {
  return { ...decision, ...ends, [Symbol.asyncDispose]: () => ends.release() }
}

const nothing = async () => {}
const NOTHING = { settle: nothing, release: nothing, cancel: nothing }

/** Whether it says more about the call than the other: one that refuses, then the one with less left. */
function binds(each: LevelDecision, other: LevelDecision): boolean {
  if (each.allowed !== other.allowed) return !each.allowed
  return each.level !== 'calls' && each.remaining < other.remaining
}
