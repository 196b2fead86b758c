import type { PolicyOptions } from '@sluice/core'
import {
  ALGORITHM_NAMES,
  type AlgorithmName,
  algorithms as registry,
} from '@sluice/core/algorithms'

/** Requests that each limiter admits per window. */
export const LIMIT = 10
export const WINDOW_MS = 10_000

/** The size of the full token bucket. */
export const BURST = 5
/** The longest that the leaky bucket lets an admitted request wait, ms. */
export const MAX_DELAY_MS = 3000

/** Requests that concurrency admits at the same time. */
export const CONCURRENT = 2
/** How long the server works for each of them, ms. */
export const WORK_MS = 500

/** The options of an algorithm besides limit and window. */
const ownOptions = { burst: BURST, maxDelay: MAX_DELAY_MS }

/** The options of each limiter per window: the same limit and window for all. Server and page share them. */
export const windowLimits = Object.fromEntries(
  ALGORITHM_NAMES.map((algorithm) => {
    const names = Object.keys(registry[algorithm].options) as (keyof typeof ownOptions)[]
    const own = Object.fromEntries(names.map((name) => [name, ownOptions[name]]))
    return [algorithm, { limit: LIMIT, window: WINDOW_MS, algorithm, ...own }]
  }),
) as { readonly [name in AlgorithmName]: PolicyOptions }

/** The lanes of the page: the algorithms, and the limit of requests at the same time. */
export type Algorithm = AlgorithmName | 'concurrency'
export const algorithms: readonly Algorithm[] = [...ALGORITHM_NAMES, 'concurrency']

export const limits: { readonly [name in Algorithm]: PolicyOptions } = {
  ...windowLimits,
  concurrency: { concurrent: CONCURRENT },
}

/** Requests a second that the overloaded server of the page can serve, by so many connections of its database. */
export const CAPACITY = 100
export const CONNECTIONS = 10
/** The loads that the page offers, as multiples of that, and how long one lasts, s. */
export const LOADS: readonly number[] = [0.5, 3, 10]
export const LOAD_SECONDS = 10
/** Its classes of requests, the most important first. */
export const CLASSES = { critical: { reserve: 0.3 }, normal: {} }

/** The state that the server reports. Times are ms since the epoch. */
export interface OverloadState {
  readonly now: number
  /** The load that is being sent; 0: none. */
  readonly load: number
  readonly limit: number
  readonly active: number
  readonly waiting: number
  /** The signal that keeps more requests from beginning; undefined while none is shed. */
  readonly signal?: string | undefined
  /** The counts of each second. */
  readonly seconds: readonly {
    readonly at: number
    readonly classes: Readonly<Record<string, { readonly admitted: number; readonly shed: number }>>
  }[]
}
