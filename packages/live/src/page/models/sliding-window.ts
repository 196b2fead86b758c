import { WINDOW_MS } from '../../limits.ts'
import { type Answer, isAdmitted } from '../traffic/answer.ts'
import { edgeAfter } from './fixed-window.ts'

export interface SlidingWindow {
  /** Units admitted in the window before this one. */
  readonly previous: number
  /** Units admitted in this window. */
  readonly current: number
  /** When this window ends: ms on the server's clock. */
  readonly endsAt: number
}

export const untouched: SlidingWindow = { previous: 0, current: 0, endsAt: 0 }

/**
 * What was admitted counts in this window. The fields tell the whole estimate, `limit − r`: where
 * it differs by more than rounding from what was counted here, they are right.
 */
export function answered(state: SlidingWindow, answer: Answer): SlidingWindow {
  const rolled = at(state, answer.answeredAt)
  const used = answer.limit - answer.remaining
  const faded = rolled.previous * shareInside(rolled, answer.answeredAt)
  const counted = rolled.current + (isAdmitted(answer) ? 1 : 0)
  const agrees = Math.abs(used - (counted + faded)) <= 1
  return { ...rolled, current: agrees ? counted : Math.max(0, Math.round(used - faded)) }
}

/** At the end of a window its count becomes the previous one. */
export function at(state: SlidingWindow, now: number): SlidingWindow {
  if (now < state.endsAt) return state
  const endsAt = edgeAfter(now)
  const follows = endsAt === state.endsAt + WINDOW_MS
  return { previous: follows ? state.current : 0, current: 0, endsAt }
}

/** The share of the previous window that still lies within the last window's length, 0 … 1. */
export function shareInside({ endsAt }: SlidingWindow, now: number): number {
  return Math.min(1, Math.max(0, (endsAt - now) / WINDOW_MS))
}
