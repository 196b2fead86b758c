import type { View } from '../view.ts'
import { SlidingWindowDrawing } from './drawing.tsx'
import type { SlidingWindow } from './model.ts'

export const slidingWindow: View<SlidingWindow> = {
  Drawing: SlidingWindowDrawing,
  about: (
    <>
      Adds a share of the previous window’s count to the current count: an estimate, which can admit
      more than the limit. The default.
    </>
  ),
}
