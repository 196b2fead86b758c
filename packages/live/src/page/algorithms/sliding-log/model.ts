import { WINDOW_MS } from '../../../limits.ts'
import { type Answer, isAdmitted } from '../../traffic/answer.ts'

/** When each request was admitted that is still in the log, oldest first: ms on the server's clock. */
export type SlidingLog = readonly number[]

export const untouched: SlidingLog = []

/** An admitted request is noted. If the fields show another number in the log, `limit − r`, they are right. */
export function answered(state: SlidingLog, answer: Answer): SlidingLog {
  const { limit, remaining, answeredAt } = answer
  const noted = at(state, answeredAt)
  const entries = isAdmitted(answer) ? [...noted, answeredAt] : noted
  const used = limit - remaining
  const unseen = Array.from({ length: used - entries.length }, () => answeredAt)
  return [...entries.slice(Math.max(0, entries.length - used)), ...unseen]
}

/** A request leaves the log one window after it came. */
export function at(state: SlidingLog, now: number): SlidingLog {
  return state.filter((time) => time > now - WINDOW_MS)
}
