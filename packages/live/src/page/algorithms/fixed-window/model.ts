import { WINDOW_MS } from '../../../limits.ts'
import type { Answer } from '../../traffic/answer.ts'

export interface FixedWindow {
  /** Units counted in the window. */
  readonly used: number
  /** ms on the server's clock; 0: no window has been met yet. */
  readonly endsAt: number
}

export const untouched: FixedWindow = { used: 0, endsAt: 0 }

/** `t` is the time until the window ends, rounded up to seconds; windows end on multiples of their length. */
export function answered(
  _: FixedWindow,
  { limit, remaining, effectiveMs, answeredAt }: Answer,
): FixedWindow {
  const nearly = answeredAt + effectiveMs - 500
  return { used: limit - remaining, endsAt: Math.round(nearly / WINDOW_MS) * WINDOW_MS }
}

/** The count starts over where a window ends. */
export function at(state: FixedWindow, now: number): FixedWindow {
  return now < state.endsAt ? state : { used: 0, endsAt: edgeAfter(now) }
}

/** Where the window of `now` ends: windows are aligned to the epoch. */
export function edgeAfter(now: number): number {
  return (Math.floor(now / WINDOW_MS) + 1) * WINDOW_MS
}
