import { createLimiter } from '@sluice/core'
import { NumberedStore } from '../replay/runs/numbered-store.ts'
import type { SharedWindow } from '../replay/statistics/shared-window.ts'
import type { Spool } from '../replay/statistics/spool.ts'
import { peaksOf, quantile } from './distribution.ts'
import type { Suggestion } from './report.ts'

/** The shares for which limits are suggested, in clients of 10,000. */
const SHARES = [9900, 9990, 9999]

/**
 * Limits by what clients asked for: for each share the lowest limit that at least so many clients
 * never exceed in any true window, and the lowest burst with which a token bucket that refills so
 * many units per window would refuse none of these.
 *
 * @param spool all requests that the demand has counted
 */
export function suggest(
  demand: SharedWindow,
  spool: Spool,
  clients: number,
): Suggestion | undefined {
  const peaks = peaksOf(demand, clients)
  if (peaks.length === 0) return undefined
  const bursts = new Map<number, number>()
  const rows = SHARES.map((share) => {
    const limit = quantile(peaks, share)
    const burst = bursts.get(limit) ?? burstFor(limit, demand, spool)
    bursts.set(limit, burst)
    return { share: share / 10_000, limit, burst }
  })
  return { windowMs: demand.window.windowMs, rows }
}

/**
 * Replays the clients within the limit through a token bucket that holds as much as the limit, and
 * finds how much of it they take: a client that asks for no more than the limit in any window never
 * takes more than that.
 */
function burstFor(limit: number, demand: SharedWindow, spool: Spool): number {
  let now = 0
  let current = 0
  const store = new NumberedStore(
    () => now,
    () => current,
  )
  const { windowMs } = demand.window
  const limiter = createLimiter({
    store,
    limit,
    window: `${windowMs}ms`,
    algorithm: 'token-bucket',
  })
  let burst = 1
  spool.forEach((timeMs, client, cost) => {
    if (demand.peak(client) > limit) return
    now = timeMs
    current = client
    const { remaining } = limiter.consume('client', { cost })
    // A request that costs nothing is admitted only if a token is left.
    burst = Math.max(burst, limit - remaining + (cost === 0 ? 1 : 0))
  })
  return burst
}
