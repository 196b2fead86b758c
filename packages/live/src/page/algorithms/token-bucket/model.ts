import { BURST } from '../../../limits.ts'
import { bucketOf } from '../bucket/bucket.ts'

/** The room is the tokens that it holds. */
export const tokenBucket = bucketOf(BURST)
