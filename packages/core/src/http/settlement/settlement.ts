import { MAX_LIMIT } from '../../algorithms/algorithm.ts'
import { StoreError } from '../../errors/store-error.ts'
import { textOf } from '../../errors/thrown.ts'
import { warnOnce } from '../../errors/warning.ts'
import type { Decision } from '../../limiter/decision.ts'
import type { ChargedPolicy, StoreLimiter } from '../../limiter/store-limiter.ts'
import { checkInteger } from '../../options/checks.ts'
import type { Charge } from '../../stores/store.ts'
import type { ChargeRule } from '../compile-options.ts'
import type { SettleOption } from './settle-option.ts'

/**
 * Corrects what a request was charged to what it turns out to cost. What it costs more is charged
 * at the time it becomes known; what it costs less is given back to the time of the charge, once
 * the cost is final. If the cost of a policy is not available, its estimate remains.
 */
export class Settlement<Request, Response> {
  private readonly limiter: StoreLimiter
  private readonly rules: readonly ChargeRule<Request, Response>[]
  private readonly charges: readonly Charge[]
  private readonly decision: Decision
  private readonly request: Request
  private readonly response: Response
  private readonly route: string | undefined
  /** Units that each policy has been charged beyond its estimate. */
  private readonly added: number[]
  /** Units of the estimate that each policy has got back. */
  private readonly returned: number[]
  /** Corrections are made one after the other: each starts from what the last one has charged. */
  private last: Promise<void> = Promise.resolve()

  constructor(
    limiter: StoreLimiter,
    rules: readonly ChargeRule<Request, Response>[],
    charges: readonly Charge[],
    decision: Decision,
    request: Request,
    response: Response,
    route?: string,
  ) {
    this.limiter = limiter
    this.rules = rules
    this.charges = charges
    this.decision = decision
    this.request = request
    this.response = response
    this.route = route
    this.added = charges.map(() => 0)
    this.returned = charges.map(() => 0)
  }

  /** While the cost can still change: charges the excess over the charge, gives nothing back. */
  raise(): Promise<void> {
    return this.next(false)
  }

  /** Corrects the charge in both directions, once the cost is final, as far as is known. */
  finish(): Promise<void> {
    return this.next(true)
  }

  private next(final: boolean): Promise<void> {
    this.last = this.last.then(() => this.correct(final))
    return this.last
  }

  private async correct(final: boolean): Promise<void> {
    const actual = await this.readActual()
    const more: number[] = []
    const less: number[] = []
    for (const [i, { cost }] of this.charges.entries()) {
      const added = this.added[i] as number
      const rest = cost - (this.returned[i] as number)
      const difference = (actual.get(this.rules[i]?.settle) ?? rest + added) - rest - added
      more.push(Math.max(0, difference))
      // Never more than was charged at that time: what was added later stays.
      const back = final ? Math.min(rest, Math.max(0, -difference)) : 0
      less.push(-back)
      this.added[i] = added + Math.max(0, difference)
      this.returned[i] = cost - rest + back
    }
    const { policies } = this.decision
    const now = policies.map(({ source }) => ({ source, at: undefined }))
    await this.charge(more, now)
    await this.charge(less, policies)
  }

  /** The result of each function, called once; without those that return nothing, or fail. */
  private async readActual(): Promise<Map<SettleOption<Request, Response> | undefined, number>> {
    const actual = new Map<SettleOption<Request, Response> | undefined, number>()
    const read = async (settle: SettleOption<Request, Response>) => {
      try {
        const cost: unknown = await settle(this.request, this.response)
        if (cost !== undefined) actual.set(settle, checkInteger('settle', cost, 0, MAX_LIMIT))
      } catch (error) {
        warnOfSettle(error)
      }
    }
    const functions = new Set(this.rules.map(({ settle }) => settle))
    functions.delete(undefined)
    await Promise.all([...(functions as Set<SettleOption<Request, Response>>)].map(read))
    return actual
  }

  private async charge(
    units: readonly number[],
    policies: readonly ChargedPolicy[],
  ): Promise<void> {
    if (units.every((each) => each === 0)) return
    const differences = this.charges.map((charge, i) => ({ ...charge, cost: units[i] as number }))
    try {
      await this.limiter.settleCharges(differences, { policies }, this.route)
    } catch (error) {
      // The store's failure has its own warning.
      if (error instanceof StoreError) return
      warnOfSettle(error)
    }
  }
}

function warnOfSettle(error: unknown): void {
  warnOnce(
    'SLUICE_SETTLE',
    `A charge was not settled: ${textOf(error)} The estimate is kept. Fix settle: it must return ` +
      'an integer ≥ 0, or undefined to keep the estimate.',
  )
}
