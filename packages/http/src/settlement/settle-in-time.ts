import type { PolicyDecision } from '@sluice/core'
import { type Timer, unref } from '@sluice/core/internal'
import { MAX_TIMER_MS } from '../path/waiting/turns.ts'
import type { RequestAdapter } from '../request-adapter.ts'
import type { Correction } from './settlement.ts'

/** The shortest time between two calls of `settle`, ms, however short a window is. */
const MIN_PERIOD_MS = 100

/**
 * Settles a request when its cost is final, because the response is over. Until then the charge is only
 * raised: when the client leaves, and each time before the windows forget the request.
 *
 * A platform that does not report every end reports progress. There, a response without any for `holdMs` is
 * settled with what is known, and no timer runs for it until its bytes are taken again. Once its client has
 * gone, the charge is raised after 100 ms without progress, 200, 400 and so on: the application may still work.
 *
 * @param correction corrects the charge
 * @param policies the policies that settle
 * @returns what is to be called with each change that `watchEnd` sees; it returns when it is corrected
 */
export function settleInTime<Response>(
  correction: Pick<Correction, 'correct'>,
  adapter: RequestAdapter<never, Response>,
  response: Response,
  policies: readonly PolicyDecision[],
  holdMs: number,
): (isOver: boolean, isClosed: boolean) => Promise<void> | undefined {
  const progress = adapter.progress?.(response)
  let done = false
  let timer: Timer | undefined
  let dueAt = 0
  let raiseAt = performance.now() + untilForgotten(policies, true)

  const look = async () => {
    timer = undefined
    const closed = adapter.isClosed(response)
    if ((progress?.quietMs() ?? 0) >= holdMs) {
      // One that is read slowly may still cost all of its estimate.
      void correction.correct(closed || progress?.isUnread() === true)
      return
    }
    if (closed || performance.now() >= raiseAt) {
      raiseAt = performance.now() + untilForgotten(policies)
      await correction.correct(false)
    }
    waitForMore()
  }
  const waitForMore = () => {
    const closed = adapter.isClosed(response)
    const quietMs = progress?.quietMs()
    // A request that never ends must not be held in memory once its client has gone.
    if (done || (closed && quietMs === undefined)) return
    const now = performance.now()
    const next = closed ? Math.max(quietMs as number, MIN_PERIOD_MS) : raiseAt - now
    const ms = Math.max(0, quietMs === undefined ? next : Math.min(next, holdMs - quietMs))
    if (timer !== undefined && dueAt <= now + ms) return
    clearTimeout(timer)
    dueAt = now + ms
    timer = unref(setTimeout(look, ms))
  }

  waitForMore()
  progress?.onProgress(waitForMore)
  return (isOver, closed) => {
    if (done) return undefined
    done = isOver
    if (isOver || closed) {
      clearTimeout(timer)
      timer = undefined
    }
    const corrected = correction.correct(isOver)
    waitForMore()
    return corrected
  }
}

/**
 * How long a request counts, ms: until the first of the windows has passed, or its quota is full.
 * @param fresh whether the request was decided just now
 */
function untilForgotten(policies: readonly PolicyDecision[], fresh = false): number {
  const each = policies.map(({ windowMs, resetMs }) =>
    fresh && resetMs > 0 ? Math.min(resetMs, windowMs) : windowMs,
  )
  return Math.min(Math.max(Math.min(...each), MIN_PERIOD_MS), MAX_TIMER_MS)
}
