import { MAX_DELAY_MS } from '../../../limits.ts'
import type { Bucket } from '../bucket/bucket.ts'
import type { View } from '../view.ts'
import { LeakyBucketDrawing } from './drawing.tsx'

export const leakyBucket: View<Bucket> = {
  Drawing: LeakyBucketDrawing,
  about: (
    <>
      Lets requests through one at a time, evenly. The others wait their turn, for{' '}
      {MAX_DELAY_MS / 1000} s at most, or are refused.
    </>
  ),
}
