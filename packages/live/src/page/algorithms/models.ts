import type { Algorithm } from '../../limits.ts'
import type { Model } from '../traffic/lane.ts'
import { concurrency } from './concurrency/model.ts'
import * as fixedWindow from './fixed-window/model.ts'
import { leakyBucket } from './leaky-bucket/model.ts'
import * as slidingLog from './sliding-log/model.ts'
import * as slidingWindow from './sliding-window/model.ts'
import { tokenBucket } from './token-bucket/model.ts'

/** How the page knows the state of each algorithm. */
export const models: { readonly [name in Algorithm]: Model<unknown> } = {
  'sliding-window': slidingWindow,
  'fixed-window': fixedWindow,
  'sliding-log': slidingLog,
  'token-bucket': tokenBucket,
  'leaky-bucket': leakyBucket,
  concurrency,
}
