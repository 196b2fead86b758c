import { type Algorithm, MAX_LIMIT } from '../algorithm.ts'
import { BucketLimit } from '../bucket/bucket.ts'

/**
 * Starts full with `burst` tokens and refills `limit` per window, continuously. Admits at most
 * burst + limit in a span as long as a window. The bucket is kept as what is missing from it.
 * Headers speak of the capacity and the time to refill it, so that limit / window is the rate.
 */
export const tokenBucket: Algorithm = {
  name: 'token-bucket',
  options: { burst: 'limit' },
  maxLimit: MAX_LIMIT,
  keepsLog: false,
  drains: true,
  compile(params) {
    const { limit, windowMs } = params
    const burst = limit === 0 ? 0 : (params.burst ?? limit)
    const refillMs = burst === limit ? windowMs : Math.ceil((burst * windowMs) / limit)
    return new BucketLimit(tokenBucket, params, burst, undefined, {
      limit: burst,
      windowMs: refillMs,
    })
  },
  lua: async () => (await import('../bucket/bucket.lua.generated.ts')).bucketLua,
}
