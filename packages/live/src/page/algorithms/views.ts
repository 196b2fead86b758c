import type { Algorithm } from '../../limits.ts'
import { concurrency } from './concurrency/view.tsx'
import { fixedWindow } from './fixed-window/view.tsx'
import { leakyBucket } from './leaky-bucket/view.tsx'
import { slidingLog } from './sliding-log/view.tsx'
import { slidingWindow } from './sliding-window/view.tsx'
import { tokenBucket } from './token-bucket/view.tsx'
import type { View } from './view.ts'

/** How the page shows each algorithm. */
export const views: { readonly [name in Algorithm]: View<unknown> } = {
  'sliding-window': slidingWindow,
  'fixed-window': fixedWindow,
  'sliding-log': slidingLog,
  'token-bucket': tokenBucket,
  'leaky-bucket': leakyBucket,
  concurrency,
}
