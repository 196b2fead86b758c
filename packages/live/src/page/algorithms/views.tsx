import { type Algorithm, BURST, CONCURRENT, LIMIT, MAX_DELAY_MS, WORK_MS } from '../../limits.ts'
import { WINDOW } from '../parts/format.ts'
import { ConcurrencyDrawing } from './concurrency/drawing.tsx'
import { FixedWindowDrawing } from './fixed-window/drawing.tsx'
import { LeakyBucketDrawing } from './leaky-bucket/drawing.tsx'
import { SlidingLogDrawing } from './sliding-log/drawing.tsx'
import { SlidingWindowDrawing } from './sliding-window/drawing.tsx'
import { TokenBucketDrawing } from './token-bucket/drawing.tsx'
import type { View } from './view.ts'

/** How the page shows each algorithm. */
export const views: { readonly [name in Algorithm]: View<unknown> } = {
  'sliding-window': {
    Drawing: SlidingWindowDrawing,
    about:
      'Adds a share of the previous window’s count to the current count: an estimate, which can admit more than the limit. The default.',
  },
  'fixed-window': {
    Drawing: FixedWindowDrawing,
    about:
      'Counts in windows aligned to the clock. At the end of a window the count restarts, so twice the limit can pass around it.',
  },
  'sliding-log': {
    Drawing: SlidingLogDrawing,
    about: `Remembers each admitted request for exactly ${WINDOW}: never admits more than the limit in that time.`,
  },
  'token-bucket': {
    Drawing: TokenBucketDrawing,
    about: `Starts with ${BURST} tokens and gets ${LIMIT} back per ${WINDOW}, evenly: a small burst, then a steady rate, together at most ${BURST + LIMIT} in any window.`,
  },
  'leaky-bucket': {
    Drawing: LeakyBucketDrawing,
    about: `Lets requests through one at a time, evenly. The others wait their turn, for ${MAX_DELAY_MS / 1000} s at most, or are refused.`,
  },
  concurrency: {
    Drawing: ConcurrencyDrawing,
    about: `Counts requests in progress: at most ${CONCURRENT} at once. Each takes ${WORK_MS / 1000} s here.`,
  },
}
