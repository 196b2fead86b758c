import { unref } from '#platform'
import type { PolicyDecision } from '../../limiter/decision.ts'
import type { Timer } from '../../platform/platform.ts'
import type { RequestAdapter } from '../request-adapter.ts'
import type { Settlement } from './settlement.ts'

/** Timers fire immediately if they are set to more, ms. */
const MAX_TIMER_MS = 2 ** 31 - 1

/** The shortest time between two calls of `settle`, ms, however short a window is. */
const MIN_PERIOD_MS = 100

/**
 * Settles a request when its cost is final: when the application has ended the response, and all
 * of it has been handed to the connection or the client has gone. Until then the charge is only
 * raised: when the client leaves, and each time before the windows forget the request.
 *
 * A platform that does not report every end reports progress. There, a response without any for `holdMs` is
 * settled with what is known, and no timer runs for it until its bytes are taken again. Once its client has
 * gone, the charge is raised after 100 ms without progress, 200, 400 and so on: the application may still work.
 *
 * @param policies the policies that settle
 */
export function settleInTime<Response>(
  settlement: Pick<Settlement<never, never>, 'raise' | 'finish'>,
  adapter: RequestAdapter<never, Response>,
  response: Response,
  policies: readonly PolicyDecision[],
  holdMs: number,
): void {
  const progress = adapter.progress?.(response)
  let ended = false
  let done = false
  let timer: Timer | undefined
  let dueAt = 0
  let raiseAt = performance.now() + untilForgotten(policies, true)

  const settle = () => {
    if (done) return
    const closed = adapter.isClosed(response)
    done = ended && (closed || adapter.isHandedOver(response))
    if (done || closed) stop()
    void (done ? settlement.finish() : settlement.raise())
    if (!done) waitForMore()
  }
  const stop = () => {
    clearTimeout(timer)
    timer = undefined
  }
  const look = async () => {
    timer = undefined
    const closed = adapter.isClosed(response)
    if ((progress?.quietMs() ?? 0) >= holdMs) {
      // One that is read slowly may still cost all of its estimate.
      void (closed || progress?.isUnread() ? settlement.finish() : settlement.raise())
      return
    }
    if (closed || performance.now() >= raiseAt) {
      raiseAt = performance.now() + untilForgotten(policies)
      await settlement.raise()
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

  adapter.whenEnded(response, () => {
    ended = true
    settle()
  })
  waitForMore()
  adapter.whenClosed(response, settle)
  progress?.onProgress(waitForMore)
}

/**
 * How long a request counts, ms: until the first of the windows has passed, or its quota is whole.
 * @param fresh whether the request was decided just now
 */
function untilForgotten(policies: readonly PolicyDecision[], fresh = false): number {
  const each = policies.map(({ windowMs, resetMs }) =>
    fresh && resetMs > 0 ? Math.min(resetMs, windowMs) : windowMs,
  )
  return Math.min(Math.max(Math.min(...each), MIN_PERIOD_MS), MAX_TIMER_MS)
}
