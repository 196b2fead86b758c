import { until } from '../redis/until.ts'

/**
 * Waits until the windows of this length have at least so much time left: an example counts on the
 * real clock, and an edge gives a unit back.
 */
export function awayFromEdge(windowMs: number, leftMs: number): Promise<boolean> {
  return until(() => windowMs - (Date.now() % windowMs) >= leftMs, {
    withinMs: leftMs + 1000,
    what: `${leftMs} of ${windowMs} ms are left`,
  })
}
