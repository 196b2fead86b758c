import { addressKey, type Charge, type Decision, WaitError } from '@sluice/core'
import { asRefusal, type StoreLimiter } from '@sluice/core/internal'
import type { CompiledOptions } from '../../options/compile-options.ts'
import type { Waited } from './waiting-strategy.ts'

/** A request that was refused, or that stands behind one that was. */
interface Wait {
  readonly charges: readonly Charge[]
  /** The key for which it waits. */
  readonly queueKey: string
  /** ms */
  readonly maxWait: number
}

/** @returns undefined if the client has gone meanwhile */
export async function waitInQueue<Request, Response>(
  limiter: StoreLimiter,
  { adapter, ipv6Prefix, priority, readAddress }: CompiledOptions<Request, Response>,
  wait: Wait,
  request: Request,
  response: Response,
): Promise<Waited | undefined> {
  const { charges, queueKey, maxWait } = wait
  const [{ key }] = charges as [Charge]
  const client = addressKey(readAddress(request), ipv6Prefix) ?? key
  const leaving = new AbortController()
  const { signal } = leaving
  const unwatch = adapter.whenClosed(response, () => leaving.abort())
  try {
    const given = typeof priority === 'function' ? await priority(request, key) : priority
    const options = { maxWait, priority: given, signal }
    const decision = await limiter.waiting.wait(charges, options, { queueKey, client })
    return { decision, hasWaited: true }
  } catch (error) {
    if (!(error instanceof WaitError)) throw error
    if (error.code === 'SLUICE_WAIT_ABORTED') return undefined
    return { decision: await refusalOf(limiter, wait, error), hasWaited: true }
  } finally {
    unwatch()
  }
}

/** Refuses a request that has waited in vain, or would. Those who wait come before it. */
async function refusalOf(
  limiter: StoreLimiter,
  { charges, queueKey }: Wait,
  { retryAfterMs }: WaitError,
): Promise<Decision> {
  const decision = await limiter.preview(charges)
  const awaited = charges.findIndex(({ key, limit }) => key === queueKey && limit.refuses)
  const name = decision.policies[awaited]?.name
  return asRefusal(decision, (each) =>
    each.name === name ? Math.max(1, retryAfterMs, each.retryAfterMs) : each.retryAfterMs,
  )
}
