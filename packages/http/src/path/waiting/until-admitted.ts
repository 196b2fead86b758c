import type { Charge } from '@sluice/core'
import { andThen, certainWaitMs, refusingPolicy, type StoreLimiter } from '@sluice/core/internal'
import type { CompiledOptions } from '../../options/compile-options.ts'
import type { WaitingStrategy } from './waiting-strategy.ts'

/**
 * Lets requests wait instead of refusing them, each behind those that wait for the same.
 *
 * @param maxWait the longest that a request waits, ms
 */
export function untilAdmitted<Request, Response>(
  limiter: StoreLimiter,
  compiled: CompiledOptions<Request, Response>,
  maxWait: number,
): WaitingStrategy<Request, Response> {
  const wait = async (
    charges: readonly Charge[],
    request: Request,
    response: Response,
    queueKey: string,
  ) => {
    const { waitInQueue } = await import('./wait-in-queue.ts')
    return waitInQueue(limiter, compiled, { charges, queueKey, maxWait }, request, response)
  }
  return (charges, request, response, route) => {
    const awaited = limiter.waiting.awaitedKey(charges)
    if (awaited !== undefined) return wait(charges, request, response, awaited)
    return andThen(limiter.decide(charges, route), (decision) => {
      const { allowed, ban, policies } = decision
      const isFinal = allowed || ban !== undefined || policies.length === 0
      if (isFinal || certainWaitMs(decision) > maxWait) return { decision }
      const { key } = charges[refusingPolicy(decision)] as Charge
      return wait(charges, request, response, key)
    })
  }
}
