import { unref } from '#platform'
import type { PolicyDecision } from '../../limiter/decision.ts'
import type { Timer } from '../../platform/platform.ts'
import type { RequestAdapter } from '../request-adapter.ts'
import type { Settlement } from './settlement.ts'

/** Timers fire immediately if they are set to more, ms. */
const MAX_TIMER_MS = 2 ** 31 - 1

/** However short a window is, `settle` is called at most once in this time, ms. */
const MIN_PERIOD_MS = 100

/**
 * Settles a request when its cost is final: when the application has ended the response, and all
 * of it has been handed to the connection or the client has gone. Until then the charge is only
 * raised: when the client leaves, and each time before the windows forget the request.
 *
 * @param policies those that settle
 */
export function settleInTime<Response>(
  settlement: Pick<Settlement<never, never>, 'raise' | 'finish'>,
  adapter: RequestAdapter<never, Response>,
  response: Response,
  policies: readonly PolicyDecision[],
): void {
  let ended = false
  let done = false
  let timer: Timer | undefined
  const settle = () => {
    if (done) return
    const closed = adapter.isClosed(response)
    done = ended && (closed || adapter.isHandedOver(response))
    // A request that never ends must not be held in memory once its client has gone.
    if (done || closed) clearTimeout(timer)
    void (done ? settlement.finish() : settlement.raise())
  }
  const raiseAfter = (ms: number) => {
    const raise = async () => {
      await settlement.raise()
      if (!done && !adapter.isClosed(response)) raiseAfter(untilForgotten(policies))
    }
    timer = unref(setTimeout(raise, ms))
  }
  adapter.whenEnded(response, () => {
    ended = true
    settle()
  })
  if (!ended) raiseAfter(untilForgotten(policies, true))
  adapter.whenClosed(response, settle)
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
