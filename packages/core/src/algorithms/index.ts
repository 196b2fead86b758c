import type { Algorithm } from './algorithm.ts'
import { fixedWindow } from './fixed-window/fixed-window.ts'
import { leakyBucket } from './leaky-bucket/leaky-bucket.ts'
import { slidingLog } from './sliding-log/sliding-log.ts'
import { slidingWindow } from './sliding-window/sliding-window.ts'
import { tokenBucket } from './token-bucket/token-bucket.ts'

// No policy names these: `concurrent`, `ban` and `reserve` have them.
export { ban } from './ban/ban.ts'
export { concurrency } from './concurrency/concurrency.ts'
export { reserved } from './reserved/reserved.ts'

/**
 * The registry of algorithms, by name, in the order in which they are listed. An algorithm is a
 * folder here and a line below.
 */
export const algorithms = {
  'sliding-window': slidingWindow,
  'fixed-window': fixedWindow,
  'sliding-log': slidingLog,
  'token-bucket': tokenBucket,
  'leaky-bucket': leakyBucket,
} as const satisfies { readonly [name: string]: Algorithm }

export type AlgorithmName = keyof typeof algorithms

/** All names, in the order of the registry. */
export const ALGORITHM_NAMES = Object.keys(algorithms) as readonly AlgorithmName[]

/** The algorithm of a policy that names none. */
export const DEFAULT_ALGORITHM: AlgorithmName = 'sliding-window'
