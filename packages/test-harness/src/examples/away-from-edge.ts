import { until } from '../redis/until.ts'

/**
 * Waits until the windows of this length have at least so much time left: an example counts on the
 * real clock, and an edge gives a unit back.
 */
export function awayFromEdge(windowMs: number, leftMs: number): Promise<boolean> {
  return until(() => leftOf(windowMs) >= leftMs, {
    withinMs: leftMs + 1000,
    what: `${leftMs} of ${windowMs} ms are left`,
  })
}

/** Repeats an attempt that an edge of these windows has interrupted. */
export async function withinWindow<T>(windowMs: number, attempt: () => Promise<T>): Promise<T> {
  for (;;) {
    await awayFromEdge(windowMs, 0.6 * windowMs)
    const edge = Date.now() + leftOf(windowMs)
    const found = await attempt()
    if (Date.now() < edge) return found
  }
}

const leftOf = (windowMs: number) => windowMs - (Date.now() % windowMs)
