import type { Charge, Decision, MaybePromise, PolicyDecision } from '@sluice/core'
import {
  type Charged,
  type ChargeLimiter,
  checkInteger,
  ending,
  isPromise,
  mostSettled,
  settleUntilConfirmed,
  textOf,
  warnOnce,
} from '@sluice/core/internal'
import type { Origin } from '@sluice/core/store'

/** Returns the actual cost, an integer ≥ 0, or undefined to keep the estimate. */
export type SettleOption<Request, Response> = (
  request: Request,
  response: Response,
) => MaybePromise<number | undefined>

/** The request and response that are settled, and the route that events name. */
export interface Messages<Request, Response> {
  readonly request: Request
  readonly response: Response
  readonly route: string | undefined
}

/**
 * Corrects the charges of a request to what it turns out to cost. What it costs more is charged at the time it
 * becomes known; what it costs less is given back to the time of the charge, once the cost is `final`. If the cost
 * of a policy is not available, its estimate remains. Corrections are made one after the other: each starts from
 * what the last one has charged. A reservation ends once the cost is final, or has reached the estimate.
 */
export class Correction<Request = never, Response = never> {
  readonly #limiter: ChargeLimiter
  readonly #functions: readonly (SettleOption<Request, Response> | undefined)[]
  readonly #charges: readonly Charge[]
  readonly #policies: Decision['policies']
  readonly #messages: Messages<Request, Response>
  /** Units of the estimate that each policy has not got back. */
  readonly #kept: number[]
  /** Units that each policy has been charged beyond its estimate. */
  readonly #added: number[]
  /** Whether the charge of each policy is still a reservation. */
  readonly #isReserved: boolean[]
  #last = Promise.resolve()

  /** @param functions the option of each policy; undefined: its charge is final */
  constructor(
    limiter: ChargeLimiter,
    functions: readonly (SettleOption<Request, Response> | undefined)[],
    charges: readonly Charge[],
    policies: Decision['policies'],
    messages: Messages<Request, Response>,
  ) {
    this.#limiter = limiter
    this.#functions = functions
    this.#charges = charges
    this.#policies = policies
    this.#messages = messages
    this.#kept = charges.map(({ cost }) => cost)
    this.#added = charges.map(() => 0)
    this.#isReserved = charges.map(
      ({ limit, claim }) => limit.algorithm.reserves === true && claim !== undefined,
    )
  }

  /** Corrects the charges to what the request has cost so far: upward alone, or both ways once that is `final`. */
  correct(final: boolean): Promise<void> {
    this.#last = this.#last.then(() => {
      const costs = this.#readCosts()
      return isPromise(costs)
        ? costs.then((read) => this.#correctTo(read, final))
        : this.#correctTo(costs, final)
    })
    return this.#last
  }

  /** Ends the reservations: the estimates stay charged until they are corrected. */
  keep(): void {
    const none = this.#charges.map(() => 0)
    void this.#charge(none, nowOf(this.#policies), () => true)
  }

  /** Whether a charge is still a reservation. */
  reserves(): boolean {
    return this.#isReserved.includes(true)
  }

  /** @param costs what each policy has really cost, units; undefined: its charge stays */
  #correctTo(costs: readonly (number | undefined)[], final: boolean): Promise<void> | undefined {
    const added = this.#added
    const policies = this.#policies
    const more: number[] = []
    const less: number[] = []
    const origins: Charged['policies'][number][] = []
    for (const [i, units] of this.#kept.entries()) {
      const charged = units + (added[i] as number)
      const difference = (costs[i] ?? charged) - charged
      more.push(Math.max(0, difference))
      // Never more than was charged at that time: what was added later stays.
      less.push(final ? Math.max(Math.min(0, difference), -units) : 0)
      added[i] = (added[i] as number) + (more[i] as number)
      this.#kept[i] = units + (less[i] as number)
      const policy = policies[i] as PolicyDecision
      // What remains once the corrections before this one are made.
      const corrected = (added[i] as number) + units - (this.#charges[i] as Charge).cost
      origins.push({ ...policy, remaining: policy.remaining - corrected })
    }
    const ends = (i: number) => final || (costs[i] ?? -1) >= (this.#charges[i] as Charge).cost
    const raised = this.#charge(more, nowOf(policies), (i) => (more[i] as number) > 0 && ends(i))
    return raised === undefined
      ? this.#charge(less, origins, ends)
      : raised.then(() => this.#charge(less, origins, ends))
  }

  /**
   * Corrects the charges. Never rejects.
   * @param ends whether it ends the reservation of the policy with this number
   * @returns undefined if that is done, or nothing differs
   */
  #charge(
    units: readonly number[],
    policies: Charged['policies'],
    ends: (i: number) => boolean,
  ): Promise<void> | undefined {
    const isEnded = this.#isReserved.map((reserved, i) => reserved && ends(i))
    if (!isEnded.includes(true) && units.every((each) => each === 0)) return undefined
    const differences = this.#charges.map((each, i) => {
      if (isEnded[i]) this.#isReserved[i] = false
      const claim = isEnded[i] && each.claim ? ending(each.claim, each.cost) : undefined
      return { ...each, cost: units[i] as number, claim }
    })
    try {
      const { route } = this.#messages
      const done = settleUntilConfirmed(this.#limiter, differences, { policies }, route)
      return isPromise(done) ? done.catch(warnOfSettle) : undefined
    } catch (error) {
      warnOfSettle(error)
      return undefined
    }
  }

  /** Calls each function once; undefined for one that returns nothing, or fails. */
  #readCosts(): MaybePromise<readonly (number | undefined)[]> {
    const functions = this.#functions
    const costs: MaybePromise<number | undefined>[] = []
    for (const [i, settle] of functions.entries()) {
      const first = functions.indexOf(settle)
      costs.push(settle === undefined || first < i ? costs[first] : this.#readCost(settle))
    }
    return costs.some(isPromise) ? Promise.all(costs) : (costs as (number | undefined)[])
  }

  #readCost(settle: SettleOption<Request, Response>): MaybePromise<number | undefined> {
    const check = (cost: unknown) => this.#checkCost(cost)
    try {
      const cost: unknown = settle(this.#messages.request, this.#messages.response)
      return isPromise(cost) ? Promise.resolve(cost).then(check, warnOfSettle) : check(cost)
    } catch (error) {
      return warnOfSettle(error)
    }
  }

  #checkCost(cost: unknown): number | undefined {
    if (cost === undefined) return undefined
    try {
      const most = mostSettled(this.#charges.map(({ limit }) => limit.algorithm))
      return checkInteger('settle', cost, 0, most)
    } catch (error) {
      return warnOfSettle(error)
    }
  }
}

/** Where the policies were decided, without a time: what is charged more is charged now. */
function nowOf(policies: Decision['policies']): Partial<Origin>[] {
  return policies.map(({ source }) => ({ source }))
}

function warnOfSettle(error: unknown): undefined {
  warnOnce(
    'SLUICE_SETTLE',
    `A charge was not settled: ${textOf(error)} The estimate is kept. Fix settle: it must return ` +
      'an integer ≥ 0, or undefined to keep the estimate.',
  )
}
