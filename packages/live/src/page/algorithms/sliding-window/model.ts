import { WINDOW_MS } from '../../../limits.ts'
import { type Answer, isAdmitted } from '../../traffic/answer.ts'
import { edgeAfter } from '../fixed-window/model.ts'

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
 * An admitted request counts in this window. The fields show the whole estimate, `limit − r`, as it
 * was at some time between sending and answering: where it can't be what was counted here and what
 * was still inside then, give or take the rounding, the fields are right.
 */
export function answered(state: SlidingWindow, answer: Answer): SlidingWindow {
  const { limit, remaining, sentAt, answeredAt } = answer
  const rolled = at(state, answeredAt)
  const counted = rolled.current + (isAdmitted(answer) ? 1 : 0)
  const insideAt = (time: number) => rolled.previous * shareInside(rolled, time)
  const used = limit - remaining
  const agrees =
    used >= counted + insideAt(answeredAt) - 1 && used <= counted + insideAt(sentAt) + 1
  return {
    ...rolled,
    current: agrees ? counted : Math.max(0, Math.round(used - insideAt(answeredAt))),
  }
}

/** The state at a moment. At the end of a window its count becomes the previous one. */
export function at(state: SlidingWindow, now: number): SlidingWindow {
  if (now < state.endsAt) return state
  const endsAt = edgeAfter(now)
  const follows = endsAt === state.endsAt + WINDOW_MS
  return { previous: follows ? state.current : 0, current: 0, endsAt }
}

/** The share of the previous window's milliseconds that lie in (now − window, now], 0 … 1. */
export function shareInside({ endsAt }: SlidingWindow, now: number): number {
  return Math.min(1, Math.max(0, (endsAt - 1 - now) / WINDOW_MS))
}
