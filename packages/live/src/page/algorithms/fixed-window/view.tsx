import type { View } from '../view.ts'
import { FixedWindowDrawing } from './drawing.tsx'
import type { FixedWindow } from './model.ts'

export const fixedWindow: View<FixedWindow> = {
  Drawing: FixedWindowDrawing,
  about: (
    <>
      Counts in windows of the clock. At an edge the count starts over, so twice the limit can pass
      around it.
    </>
  ),
}
