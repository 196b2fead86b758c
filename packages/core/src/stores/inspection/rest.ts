import { sleep } from '#platform'

/** The longest pause after a step, ms. */
const MAX_PAUSE_MS = 100

/**
 * Waits for as long as the step took, so that a server spends no more than half of its time on it.
 *
 * @param beganAt ms of `performance.now()`
 */
export function restAfter(beganAt: number): Promise<void> {
  return sleep(Math.min(performance.now() - beganAt, MAX_PAUSE_MS))
}
