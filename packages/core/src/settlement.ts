import type { Decision } from './decision.ts'
import { SluiceError } from './errors.ts'
import { checkInteger } from './options/checks.ts'
import type { ChargeRule } from './options/compile.ts'
import type { SettleOption } from './options/rate-limit-options.ts'
import { MAX_LIMIT } from './policy.ts'
import type { PolicyLimiter } from './policy-limiter.ts'
import type { Charge } from './stores/store.ts'
import { warnOnce } from './warning.ts'

/**
 * Corrects what a request was charged to what it has turned out to cost, in the window that was
 * charged. Where the actual cost can't be had, the estimate stands, and that is told.
 */
export async function settle<Request, Response>(
  limiter: PolicyLimiter,
  rules: readonly ChargeRule<Request, Response>[],
  charges: readonly Charge[],
  decision: Decision,
  request: Request,
  response: Response,
): Promise<void> {
  try {
    const actual = new Map<SettleOption<Request, Response> | undefined, number>()
    for (const { settle } of rules) {
      if (settle === undefined || actual.has(settle)) continue
      actual.set(settle, checkInteger('settle', await settle(request, response), 0, MAX_LIMIT))
    }
    const differences = charges.map((charge, i) => ({
      ...charge,
      cost: (actual.get(rules[i]?.settle) ?? charge.cost) - charge.cost,
    }))
    if (differences.some(({ cost }) => cost !== 0))
      await limiter.settleCharges(differences, decision)
  } catch (error) {
    // That the store fails has been told already.
    if (error instanceof SluiceError && error.code === 'SLUICE_STORE_UNAVAILABLE') return
    warnOnce(
      'SLUICE_SETTLE',
      `A charge was not settled: ${String(error)} The estimate stands; settle must give an integer ≥ 0.`,
    )
  }
}
