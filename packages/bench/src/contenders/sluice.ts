import { createLimiter, type Decision, type LimiterOptions, type PolicyOptions } from '@sluice/core'
import {
  ALGORITHM_NAMES,
  type AlgorithmName,
  algorithms,
  DEFAULT_ALGORITHM,
} from '@sluice/core/algorithms'
import { type Decide, LIMIT, WINDOW_MS } from './terms.ts'

/** The algorithms whose state does not grow. */
export const COUNTING = ALGORITHM_NAMES.filter((name) => !algorithms[name].keepsLog)

/** All, those with a log last. */
export const ALGORITHMS = [
  ...COUNTING,
  ...ALGORITHM_NAMES.filter((name) => algorithms[name].keepsLog),
]

/** The default algorithm, to which the ratios relate. */
export const OURS = `sluice ${DEFAULT_ALGORITHM}`

export function policies(algorithm: AlgorithmName, count: number): PolicyOptions[] {
  const limit = Math.min(LIMIT, algorithms[algorithm].maxLimit)
  return Array.from({ length: count }, (_, i) => {
    return { name: `p${i}`, limit, window: WINDOW_MS, algorithm }
  })
}

/** The default algorithm on a store, with so many policies. */
export function onStore(
  store: NonNullable<LimiterOptions['store']>,
  count = 1,
  algorithm: AlgorithmName = DEFAULT_ALGORITHM,
): Decide {
  // A machine that stands still for a moment must not let this process decide in place of the store, which would
  // be cheaper: it would fail the measurement (see `readAll`).
  const terms = { policies: policies(algorithm, count), deadline: '30s' } as const
  const limiter = createLimiter({ store, ...terms } as LimiterOptions)
  return async (key) => readAll(await limiter.consume(key))
}

/**
 * Reads every field, as an adapter and its application might; gives their sum.
 *
 * @throws Error if the limiter has refused, or the store has not decided
 */
export function readAll(decision: Decision): number {
  if (!decision.allowed) throw new Error('refused: the limits are not high enough')
  if (decision.source !== 'store') throw new Error(`decided by ${decision.source}`)
  let sum = decision.at + decision.source.length + decision.limit + decision.remaining
  sum += decision.resetMs + decision.retryAfterMs + decision.delayMs
  for (const policy of decision.policies) {
    sum += policy.name.length + policy.windowMs + policy.limit + policy.remaining
    sum += policy.resetMs + policy.retryAfterMs + policy.delayMs + policy.effectiveMs
    sum += policy.at + policy.key.length + policy.source.length + (policy.allowed ? 1 : 0)
  }
  return sum
}
