import { WINDOW } from '../../parts/format.ts'
import type { View } from '../view.ts'
import { SlidingLogDrawing } from './drawing.tsx'
import type { SlidingLog } from './model.ts'

export const slidingLog: View<SlidingLog> = {
  Drawing: SlidingLogDrawing,
  about: (
    <>
      Remembers each admitted request for exactly {WINDOW}: never admits more than the limit in that
      time.
    </>
  ),
}
