import type { PolicyOptions } from '@sluice/core'
import {
  ALGORITHM_NAMES,
  type AlgorithmName,
  algorithms as registry,
} from '@sluice/core/algorithms'

/** Requests that each limiter admits per window. */
export const LIMIT = 10
export const WINDOW_MS = 10_000

/** What the token bucket holds when it is full. */
export const BURST = 5
/** The longest that the leaky bucket lets an admitted request wait, ms. */
export const MAX_DELAY_MS = 3000

/** The options of an algorithm besides limit and window. */
const OWN = { burst: BURST, maxDelay: MAX_DELAY_MS }

/** The options of each limiter: the same limit and window for all. Server and page share them. */
export const limits = Object.fromEntries(
  ALGORITHM_NAMES.map((algorithm) => {
    const names = Object.keys(registry[algorithm].options) as (keyof typeof OWN)[]
    const own = Object.fromEntries(names.map((name) => [name, OWN[name]]))
    return [algorithm, { limit: LIMIT, window: WINDOW_MS, algorithm, ...own }]
  }),
) as { readonly [name in AlgorithmName]: PolicyOptions }

export type Algorithm = AlgorithmName
export const algorithms = ALGORITHM_NAMES
