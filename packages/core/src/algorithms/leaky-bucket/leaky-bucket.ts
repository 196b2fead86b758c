import { type Algorithm, MAX_LIMIT } from '../algorithm.ts'
import { BucketLimit, MAX_DELAY_MS } from '../bucket/bucket.ts'

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
  drains: true,
  compile: (params) => new BucketLimit(leakyBucket, params, 1, params.maxDelayMs ?? MAX_DELAY_MS),
  async lua() {
    const { bucketLua, queueLua } = await import('../bucket/bucket.lua.generated.ts')
    return { ...bucketLua, ...queueLua, claims: { decide: {}, settle: { remaining: -1 } } }
  },
}
