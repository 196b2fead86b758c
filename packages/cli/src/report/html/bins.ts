import { number } from '@sluice/terminal/words'
import type { Demand } from '../report.ts'

type Bins = Demand['bins']

/** `7`, `7–8` */
export function rangeOf({ from, to }: Omit<Bins[number], 'clients'>): string {
  return from === to ? number(from) : `${number(from)}–${number(to)}`
}

/**
 * The place of a limit on an axis that counts bins: at the end of the peaks that keep to it, within
 * a bin or between two; half a bin beyond them all if none comes near it.
 */
export function placeOf(limit: number, bins: Bins): number {
  const bin = bins.findIndex(({ to }) => limit < to)
  if (bin < 0) return limit === bins.at(-1)?.to ? bins.length : bins.length + 0.5
  const { from, to } = bins[bin] as Bins[number]
  return bin + Math.max(0, limit - from + 1) / (to - from + 1)
}
