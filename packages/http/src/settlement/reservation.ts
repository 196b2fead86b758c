import type { Charge, Decision } from '@sluice/core'
import type { ChargeLimiter } from '@sluice/core/internal'
import type { Progress } from '../request-adapter.ts'
import type { Correction } from './settlement.ts'

/** The estimates of a request that end with this process. */
export interface Reservation {
  /**
   * Is to be called with each change that `watchEnd` sees.
   * @param settled resolves when the response is settled; undefined if it has been settled before
   */
  changed(isOver: boolean, isClosed: boolean, settled: Promise<void> | undefined): void
  /** Bytes of the response were asked for or taken. */
  touch(): void
}

/**
 * Renews the reservations of a request until they are settled. What might not be settled in the end stays charged:
 * the estimate of a client that has left, of a response without progress for `hold`, and of one whose
 * settlement takes longer than that.
 *
 * @param progress undefined where the platform reports every end
 */
export function holdEstimate(
  limiter: ChargeLimiter,
  charges: readonly Charge[],
  decision: Decision,
  correction: Pick<Correction, 'correct' | 'keep' | 'reserves'>,
  progress: Progress | undefined,
): Reservation | undefined {
  if (!correction.reserves()) return undefined
  /** When the response was over, by `performance.now()`. */
  let overAt: number | undefined
  const quietMs = () => {
    if (!correction.reserves()) return Infinity
    return overAt === undefined ? progress?.quietMs() : performance.now() - overAt
  }
  // Slots end with the response, and an estimate when it is settled.
  const own = charges.map((each) => {
    return each.limit.algorithm.reserves ? each : { ...each, claim: undefined }
  })
  const ended = (reason: string) => {
    if (reason === 'abandoned') correction.keep()
  }
  const held = limiter.hold(own, decision, ended, { quietMs })
  return {
    changed(isOver, isClosed, settled) {
      if (isOver) {
        overAt ??= performance.now()
        void settled?.then(() => held?.release())
      } else if (isClosed) held?.abandon()
    },
    touch() {
      if (correction.reserves()) held?.touch()
    },
  }
}
