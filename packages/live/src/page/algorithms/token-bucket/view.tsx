import { BURST, LIMIT } from '../../../limits.ts'
import { WINDOW } from '../../parts/format.ts'
import type { Bucket } from '../bucket/bucket.ts'
import type { View } from '../view.ts'
import { TokenBucketDrawing } from './drawing.tsx'

export const tokenBucket: View<Bucket> = {
  Drawing: TokenBucketDrawing,
  about: (
    <>
      Starts with {BURST} tokens and gets {LIMIT} back per {WINDOW}, evenly: a small burst, then a
      steady rate, together at most {BURST + LIMIT} in any window.
    </>
  ),
}
