import type { AlgorithmName, Decision, PolicyOptions } from '@sluice/core'
import { LIMIT, WINDOW_MS } from './terms.ts'

/** The algorithms whose state does not grow. */
export const COUNTING: readonly AlgorithmName[] = [
  'sliding-window',
  'fixed-window',
  'token-bucket',
  'leaky-bucket',
]

export const ALGORITHMS: readonly AlgorithmName[] = [...COUNTING, 'sliding-log']

/** The default algorithm, to which the ratios relate. */
export const OURS = 'sluice sliding-window'

export function policies(algorithm: AlgorithmName, count: number): PolicyOptions[] {
  // The most that a log may hold.
  const limit = algorithm === 'sliding-log' ? 100_000 : LIMIT
  return Array.from({ length: count }, (_, i) => {
    return { name: `p${i}`, limit, window: WINDOW_MS, algorithm }
  })
}

/** Reads every field, as an adapter and its application might; gives their sum. */
export function readAll(decision: Decision): number {
  if (!decision.allowed) throw new Error('refused: the limits are not high enough')
  let sum = decision.at + decision.source.length + decision.limit + decision.remaining
  sum += decision.resetMs + decision.retryAfterMs + decision.delayMs
  for (const policy of decision.policies) {
    sum += policy.name.length + policy.windowMs + policy.limit + policy.remaining
    sum += policy.resetMs + policy.retryAfterMs + policy.delayMs + policy.effectiveMs
    sum += policy.allowed ? 1 : 0
  }
  return sum
}
