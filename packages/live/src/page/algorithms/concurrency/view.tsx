import { CONCURRENT, WORK_MS } from '../../../limits.ts'
import type { View } from '../view.ts'
import { ConcurrencyDrawing } from './drawing.tsx'

export const concurrency: View<undefined> = {
  Drawing: ConcurrencyDrawing,
  about: (
    <>
      Counts requests in progress, not per window: {CONCURRENT} at the same time. This endpoint
      takes {WORK_MS / 1000} s for each.
    </>
  ),
}
