import { teamOf } from '../exchange.ts'
import type { Machine } from '../machine.ts'
import { maySendTwice } from '../plan.ts'
import { UntilLoss } from './until-loss.ts'

/** What is known of a call of a language model, units. */
export interface Spending {
  readonly machine: Machine
  readonly client: string
  readonly estimate: number
  /** Whether the store has said that it is charged; left out: nobody knows. */
  isCharged?: boolean
  /** What it has used in the end; left out: it has not ended. */
  actual?: number
}

/**
 * What all calls have used of the budget's levels: each is charged once, and no level has ever more than its limit.
 * Checked until the store loses what it has counted, or its clock steps.
 */
export class Spent extends UntilLoss {
  readonly #all: Spending[] = []

  /** A process begins a call, or settles what nobody has reserved: with an estimate of 0. */
  begins(machine: Machine, client: string, estimate: number): Spending {
    const spending: Spending = { machine, client, estimate }
    this.#all.push(spending)
    return spending
  }

  /** The store has said whether a call is charged. */
  decided(spending: Spending, isCharged: boolean): void {
    spending.isCharged = isCharged
    if (isCharged) this.#checkLimits(spending)
  }

  /** Checks what a level has used, once every settlement was repeated. */
  checkUsed(level: 'client' | 'team', id: string, used: number): void {
    if (this.isOver) return
    const ranges = this.#of(level, id).map((each) => this.#rangeOf(each))
    const least = ranges.reduce((sum, [from]) => sum + from, 0)
    const most = ranges.reduce((sum, [, to]) => sum + to, 0)
    if (used < least || used > most)
      this.run.fail('budget', `${id} has used ${used}, its calls ${least} to ${most}`)
  }

  #of(level: 'client' | 'team', id: string): Spending[] {
    return this.#all.filter(({ client }) => (level === 'team' ? teamOf(client) : client) === id)
  }

  /** What a call is charged at least and at most in the end. */
  #rangeOf({ machine, estimate, isCharged, actual }: Spending): readonly [number, number] {
    const { soft = false, lost = 'returned' } = this.run.plan.application.budget ?? {}
    // Without a number of its own, a charge that is sent twice is charged twice.
    const twice = maySendTwice(this.run.plan) && (soft || lost === 'charged') ? estimate : 0
    if (isCharged === false) return [0, soft ? estimate : twice]
    const isBill = estimate === 0
    const isKnown = !machine.isDead && actual !== undefined && (isBill || isCharged === true)
    if (isKnown) return [actual, actual + twice]
    const returned = isBill || lost === 'returned' || isCharged === undefined ? 0 : estimate
    return [Math.min(returned, actual ?? returned), Math.max(estimate, actual ?? 0) + twice]
  }

  /** A reservation is never lost while its process lives, so what is admitted fits beside all others. */
  #checkLimits({ client }: Spending): void {
    const { budget } = this.run.plan.application
    if (this.isOver || budget === undefined || budget.soft) return
    // What is held ends where renewals do not come in time.
    if (budget.lost === 'returned' && this.run.plan.faults.length > 0) return
    for (const [level, id] of [
      ['client', client],
      ['team', teamOf(client)],
    ] as const) {
      const own = this.#of(level, id).filter((each) => each.isCharged === true)
      const units = own.map((each) => Math.min(each.estimate, each.actual ?? Infinity))
      const least = units.reduce((sum, each) => sum + each, 0)
      const limit = budget.levels[level]
      if (least > limit) this.run.fail('budget', `${id} is admitted ${least} of ${limit}`)
    }
  }
}
