import { CONCURRENT, WORK_MS } from '../../../limits.ts'
import type { View } from '../view.ts'
import { ConcurrencyDrawing } from './drawing.tsx'

export const concurrency: View<undefined> = {
  Drawing: ConcurrencyDrawing,
  about: (
    <>
      Counts requests in progress: at most {CONCURRENT} at once. Each takes {WORK_MS / 1000} s here.
    </>
  ),
}
