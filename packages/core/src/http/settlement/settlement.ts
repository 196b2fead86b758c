import { unref } from '#platform'
import { mostSettled } from '../../algorithms/algorithm.ts'
import { confirmedLate, StoreError } from '../../errors/store-error.ts'
import { textOf } from '../../errors/thrown.ts'
import { warnOnce } from '../../errors/warning.ts'
import type { ChargeLimiter } from '../../limiter/charge-limiter.ts'
import type { Decision } from '../../limiter/decision.ts'
import type { MaybePromise } from '../../maybe-promise.ts'
import { checkInteger } from '../../options/checks.ts'
import type { Charge, Origin } from '../../stores/store.ts'

/** Returns the actual cost, an integer ≥ 0, or undefined to keep the estimate. */
export type SettleOption<Request, Response> = (
  request: Request,
  response: Response,
) => MaybePromise<number | undefined>

/** What becomes of the charges of a request until its cost is final. */
export interface Correction {
  /** Corrects the charges to what the request has cost so far: upward alone, or both ways once that is `final`. */
  correct(final: boolean): Promise<void>
  /** Ends the reservations: the estimates stay charged until they are corrected. */
  keep(): void
  /** Whether a charge is still a reservation. */
  reserves(): boolean
}

/** What is settled, and the route that events name. */
interface Messages<Request, Response> {
  readonly request: Request
  readonly response: Response
  readonly route: string | undefined
}

/**
 * Corrects the charges of a request to what it turns out to cost. What it costs more is charged at the time it
 * becomes known; what it costs less is given back to the time of the charge, once the cost is `final`. If the cost
 * of a policy is not available, its estimate remains. Corrections are made one after the other: each starts from
 * what the last one has charged. A reservation ends once the cost is final, or has reached the estimate.
 *
 * @param functions the option of each policy; undefined: its charge is final
 * @param holdMs how long a reservation lasts without renewal, ms
 */
export function correctionOf<Request, Response>(
  limiter: ChargeLimiter,
  functions: readonly (SettleOption<Request, Response> | undefined)[],
  charges: readonly Charge[],
  { policies }: Decision,
  { request, response, route }: Messages<Request, Response>,
  holdMs: number,
): Correction {
  /** Units of the estimate that each policy has not got back. */
  const kept = charges.map(({ cost }) => cost)
  /** Units that each policy has been charged beyond its estimate. */
  const added = charges.map(() => 0)
  const isReserved = charges.map(
    ({ limit, slot }) => limit.algorithm.reserves === true && slot !== undefined,
  )
  const most = mostSettled(charges.map(({ limit }) => limit.algorithm))
  let last = Promise.resolve()

  /** @param ends whether it ends the reservation of the policy with this number */
  const charge = async (
    units: readonly number[],
    charged: readonly Partial<Origin>[],
    ends: (i: number) => boolean,
  ) => {
    const differences = charges.map((each, i) => {
      const reserved = isReserved[i] && ends(i) ? each.cost : undefined
      if (reserved !== undefined) isReserved[i] = false
      return { ...each, cost: units[i] as number, reserved }
    })
    if (!differences.some(({ cost, reserved }) => cost !== 0 || reserved !== undefined)) return
    try {
      await limiter.settleCharges(differences, { policies: charged }, route)
    } catch (error) {
      // The store's failure has its own warning.
      if (!(error instanceof StoreError)) warnOfSettle(error)
      else if (differences.some(({ reserved }) => reserved !== undefined))
        repeat(limiter, differences, charged, error, holdMs / 3)
    }
  }
  const now = policies.map(({ source }) => ({ source }))
  const correct = async (final: boolean) => {
    const actual = await readCosts(functions, most, request, response)
    const differences = kept.map((units, i) => {
      const charged = units + (added[i] as number)
      return (actual.get(functions[i]) ?? charged) - charged
    })
    const more = differences.map((difference) => Math.max(0, difference))
    // Never more than was charged at that time: what was added later stays.
    const less = differences.map((difference, i) =>
      final ? Math.max(Math.min(0, difference), -(kept[i] as number)) : 0,
    )
    for (const i of kept.keys()) {
      added[i] = (added[i] as number) + (more[i] as number)
      kept[i] = (kept[i] as number) + (less[i] as number)
    }
    const ends = (i: number) =>
      final || (actual.get(functions[i]) ?? -1) >= (charges[i] as Charge).cost
    await charge(more, now, (i) => (more[i] as number) > 0 && ends(i))
    await charge(less, policies, ends)
  }
  return {
    correct(final) {
      last = last.then(() => correct(final))
      return last
    },
    keep: () =>
      void charge(
        charges.map(() => 0),
        now,
        () => true,
      ),
    reserves: () => isReserved.includes(true),
  }
}

/** The longest between two attempts, and how long they are made at all, ms. */
const MAX_WAIT_MS = 60_000
const GIVE_UP_MS = 3_600_000

/**
 * Repeats a settlement that the store has not confirmed: its reservations would come back, although they were used.
 * The other charges are as a failure leaves them: at the estimate.
 *
 * @param waitMs until it is repeated, ms
 */
function repeat(
  limiter: ChargeLimiter,
  charges: readonly Charge[],
  policies: readonly Partial<Origin>[],
  failure: StoreError,
  waitMs: number,
  triedMs = 0,
): void {
  if (triedMs >= GIVE_UP_MS) return
  const again = charges.map((each) =>
    each.reserved === undefined ? { ...each, cost: 0 } : { ...each, isRepeated: true as const },
  )
  const attempt = async () => {
    if (confirmedLate.has(failure)) return
    try {
      await limiter.settleCharges(again, { policies })
    } catch (error) {
      const next = Math.min(2 * waitMs, MAX_WAIT_MS)
      if (error instanceof StoreError)
        repeat(limiter, again, policies, error, next, triedMs + waitMs)
    }
  }
  unref(setTimeout(attempt, waitMs))
}

/**
 * The result of each function, called once; without those that return nothing, or fail.
 *
 * @param most the most that one may return, units
 */
async function readCosts<Request, Response>(
  functions: readonly (SettleOption<Request, Response> | undefined)[],
  most: number,
  request: Request,
  response: Response,
) {
  const costs = new Map<SettleOption<Request, Response> | undefined, number>()
  const read = async (settle: SettleOption<Request, Response> | undefined) => {
    try {
      const cost: unknown = await settle?.(request, response)
      if (cost !== undefined) costs.set(settle, checkInteger('settle', cost, 0, most))
    } catch (error) {
      warnOfSettle(error)
    }
  }
  await Promise.all([...new Set(functions)].map(read))
  return costs
}

function warnOfSettle(error: unknown): void {
  warnOnce(
    'SLUICE_SETTLE',
    `A charge was not settled: ${textOf(error)} The estimate is kept. Fix settle: it must return ` +
      'an integer ≥ 0, or undefined to keep the estimate.',
  )
}
