import type { Algorithm } from '../algorithm.ts'
import lua from '../bucket/bucket.lua.generated.ts'
import { BucketQuota } from '../bucket/bucket.ts'

/**
 * A queue that empties at `limit` per window: an admitted request waits its turn (`delayMs`), at
 * most `maxDelayMs`; beyond that it is refused. So what goes on is evenly spaced. At once it
 * admits one unit, and as many more as drain within `maxDelayMs`.
 */
export const leakyBucket: Algorithm = {
  name: 'leaky-bucket',
  compile({ limit, windowMs, maxDelayMs = 1000, oneOfSeveral }) {
    return new BucketQuota({
      algorithm: leakyBucket,
      shown: { limit, windowMs },
      limit,
      windowMs,
      oneOfSeveral,
      capacity: 1,
      queueMs: maxDelayMs,
    })
  },
  lua,
}
