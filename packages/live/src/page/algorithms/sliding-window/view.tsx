import type { View } from '../view.ts'
import { SlidingWindowDrawing } from './drawing.tsx'
import type { SlidingWindow } from './model.ts'

export const slidingWindow: View<SlidingWindow> = {
  Drawing: SlidingWindowDrawing,
  about: (
    <>
      Adds to this window’s count the share of the last one still inside: an estimate, close to the
      limit on ordinary traffic. The default.
    </>
  ),
}
