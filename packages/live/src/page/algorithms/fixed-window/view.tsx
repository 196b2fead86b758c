import type { View } from '../view.ts'
import { FixedWindowDrawing } from './drawing.tsx'
import type { FixedWindow } from './model.ts'

export const fixedWindow: View<FixedWindow> = {
  Drawing: FixedWindowDrawing,
  about: (
    <>
      Counts in windows aligned to the clock. At the end of a window the count restarts, so twice
      the limit can pass around it.
    </>
  ),
}
