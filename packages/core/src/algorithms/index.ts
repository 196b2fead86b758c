import type { Algorithm, AlgorithmName } from './algorithm.ts'
import { fixedWindow } from './fixed-window/fixed-window.ts'
import { leakyBucket } from './leaky-bucket/leaky-bucket.ts'
import { slidingLog } from './sliding-log/sliding-log.ts'
import { slidingWindow } from './sliding-window/sliding-window.ts'
import { tokenBucket } from './token-bucket/token-bucket.ts'

export const algorithms: { readonly [name in AlgorithmName]: Algorithm } = {
  'sliding-window': slidingWindow,
  'fixed-window': fixedWindow,
  'sliding-log': slidingLog,
  'token-bucket': tokenBucket,
  'leaky-bucket': leakyBucket,
}
