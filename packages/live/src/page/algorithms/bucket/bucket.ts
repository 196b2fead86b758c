import { LIMIT, WINDOW_MS } from '../../../limits.ts'
import { type Answer, isAdmitted } from '../../traffic/answer.ts'

/** ms in which one unit comes back. */
export const UNIT_MS = WINDOW_MS / LIMIT

/** The units that come back in 1 ms, the finest step. */
const GRAIN = 1 / UNIT_MS

/** Both buckets: the room that requests take and that comes back at an even pace. */
export interface Bucket {
  /** Units that would be admitted, with fractions. */
  readonly room: number
  /** The time for which `room` holds, ms on the server's clock. */
  readonly at: number
}

/** @param capacity units that fit when nothing has been taken */
export function bucketOf(capacity: number) {
  const untouched: Bucket = { room: capacity, at: 0 }

  /** Room comes back continuously, up to the capacity. */
  const at = (state: Bucket, now: number): Bucket => {
    const back = Math.max(0, now - state.at) / UNIT_MS
    return { room: Math.min(capacity, state.room + back), at: Math.max(now, state.at) }
  }

  /**
   * An admitted request has taken one unit. `r` is the room in whole units; the fraction comes from
   * the algorithm's rule, and is kept within the unit that `r` shows.
   *
   * @param decidedAt when the room was as the fields say: ms on the server's clock
   */
  const answered = (state: Bucket, answer: Answer, decidedAt = answer.answeredAt): Bucket => {
    const before = at(state, decidedAt)
    const left = before.room - (isAdmitted(answer) ? 1 : 0)
    const { remaining } = answer
    const room = Math.max(remaining, Math.min(left, remaining + 1 - GRAIN))
    return { room, at: before.at }
  }

  return { untouched, at, answered }
}
