import type { SharedWindow } from '../replay/statistics/shared-window.ts'
import type { Demand } from './report.ts'

/** The highest peak that has a bin of its own. */
const SINGLE_BINS = 40
/**
 * How far a bin above that reaches: its end is this factor above its beginning, about 12 bins per factor of
 * ten.
 */
const GROWTH = 1.2

/** The shares, in clients of 10,000, so that they are exact. */
const SHARES = [5000, 9000, 9500, 9900, 9990, 9999, 10_000]
const WHOLE = 10_000

/** @param peaks whole units, ascending */
export function binsOf(peaks: Float64Array): Demand['bins'] {
  const last = peaks.at(-1)
  if (last === undefined) return []
  const bins: { from: number; to: number; clients: number }[] = []
  for (let from = peaks[0] as number; from <= last; ) {
    const to = last <= SINGLE_BINS ? from : Math.max(from, Math.ceil(from * GROWTH) - 1)
    bins.push({ from, to, clients: 0 })
    from = to + 1
  }
  let bin = 0
  for (const peak of peaks) {
    while (peak > (bins[bin]?.to as number)) bin += 1
    ;(bins[bin] as { clients: number }).clients += 1
  }
  return bins
}

/** @param peaks whole units, ascending */
export function quantilesOf(peaks: Float64Array): Demand['quantiles'] {
  if (peaks.length === 0) return []
  return SHARES.map((share) => ({ share: share / WHOLE, peak: quantile(peaks, share) }))
}

/**
 * The lowest peak that at least so many clients don't exceed.
 * @param peaks ascending, at least one
 * @param share how many of 10,000 clients
 */
export function quantile(peaks: Float64Array, share: number): number {
  return peaks[Math.max(0, Math.ceil((peaks.length * share) / WHOLE) - 1)] as number
}

/** The peaks of the clients that asked for anything, ascending. */
export function peaksOf(demand: SharedWindow, clients: number): Float64Array {
  const peaks = new Float64Array(clients)
  let found = 0
  for (let client = 0; client < clients; client += 1) {
    const peak = demand.peak(client)
    if (peak > 0) peaks[found++] = peak
  }
  return peaks.subarray(0, found).sort()
}
