import { MAX_DELAY_MS } from '../../../limits.ts'
import { bucketOf, UNIT_MS } from '../bucket/bucket.ts'

/** Requests that can wait for their turn at the same time. */
export const PLACES = MAX_DELAY_MS / UNIT_MS

const bucket = bucketOf(1 + PLACES)

/**
 * The room is how many more would be admitted: one that continues immediately, the others into the queue.
 * An answer arrives after the delay of its request, but shows the room at the time of sending.
 */
export const leakyBucket: typeof bucket = {
  ...bucket,
  answered: (state, answer) => bucket.answered(state, answer, answer.sentAt),
}
