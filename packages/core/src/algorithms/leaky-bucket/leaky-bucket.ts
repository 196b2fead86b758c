import { type Algorithm, MAX_LIMIT } from '../algorithm.ts'
import { bucketLua } from '../bucket/bucket.lua.ts'
import { BucketLimit } from '../bucket/bucket.ts'

/** The longest that an admitted request waits, unless the policy says otherwise, ms. */
const MAX_DELAY_MS = 1000

/**
 * A queue that empties at `limit` per window: an admitted request waits its turn (`delayMs`), at
 * most `maxDelayMs`; beyond that it is refused. So released requests are evenly spaced. Together it
 * admits one unit, and as many more as drain within `maxDelayMs`.
 */
export const leakyBucket: Algorithm = {
  name: 'leaky-bucket',
  options: { maxDelay: MAX_DELAY_MS },
  maxLimit: MAX_LIMIT,
  keepsLog: false,
  compile({ limit, windowMs, maxDelayMs = MAX_DELAY_MS, oneOfSeveral }) {
    return new BucketLimit({
      algorithm: leakyBucket,
      shown: { limit, windowMs },
      limit,
      windowMs,
      oneOfSeveral,
      capacity: 1,
      queueMs: maxDelayMs,
    })
  },
  lua: bucketLua,
}
