import type { ServerResponse } from 'node:http'
import type { PolicyLimiter } from './limiter.ts'
import { checkCost } from './limiter.ts'
import type { ChargeRule } from './options/compile.ts'
import type { Charge } from './stores/store.ts'
import { warnOnce } from './warning.ts'

/** Calls back once: when the response has ended, or its client has gone away. */
export function whenClosed(response: ServerResponse, callback: () => void): void {
  if (response.closed) callback()
  else response.once('close', callback)
}

/**
 * Corrects what a request was charged to what it has turned out to cost, in the window that was
 * charged. Where the actual cost can't be had, the estimate stands, and that is told.
 *
 * @param at when it was charged, ms on the store's clock
 */
export async function settle<Request, Response>(
  limiter: PolicyLimiter,
  rules: readonly ChargeRule<Request, Response>[],
  charges: readonly Charge[],
  at: number,
  request: Request,
  response: Response,
): Promise<void> {
  try {
    const differences: Charge[] = []
    for (const [i, charge] of charges.entries()) {
      const actual = await rules[i]?.settle?.(request, response)
      const cost = actual === undefined ? 0 : checkCost(actual, 'settle') - charge.cost
      differences.push({ ...charge, cost })
    }
    if (differences.some(({ cost }) => cost !== 0)) await limiter.settleCharges(differences, at)
  } catch (error) {
    warnOnce(
      'SLUICE_SETTLE',
      `A charge was not settled: ${String(error)} The estimate stands; settle must give an integer ≥ 0.`,
    )
  }
}
