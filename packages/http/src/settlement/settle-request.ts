import type { Charge, Decision } from '@sluice/core'
import type { ChargeLimiter } from '@sluice/core/internal'
import type { CompiledOptions } from '../options/compile-options.ts'
import { holdEstimate } from './reservation.ts'
import { settleInTime } from './settle-in-time.ts'
import { Correction, type Messages } from './settlement.ts'

/** The settlement of a request. */
export interface Settling {
  /** Is to be called with each change that `watchEnd` sees. @returns when the charge is corrected */
  changed(isOver: boolean, isClosed: boolean): Promise<void> | undefined
  /** Bytes of the response were asked for or taken. */
  touch(): void
}

/** Settles an admitted request, and renews what it has reserved until then. */
export function settleRequest<Request, Response>(
  limiter: ChargeLimiter,
  { adapter, rules, holdMs, reserves }: CompiledOptions<Request, Response>,
  decision: Decision,
  charges: readonly Charge[],
  messages: Messages<Request, Response>,
): Settling {
  const { policies } = decision
  const { response } = messages
  // What a policy would refuse, it has not charged.
  const functions = rules.map(({ settle }, i) => (policies[i]?.allowed ? settle : undefined))
  const settled = policies.filter((_, i) => functions[i] !== undefined)
  const correction = new Correction(limiter, functions, charges, policies, messages)
  const settle = settleInTime(correction, adapter, response, settled, holdMs)
  const reservation = reserves
    ? holdEstimate(limiter, charges, decision, correction, adapter.progress?.(response))
    : undefined
  return {
    changed(isOver, isClosed) {
      const done = settle(isOver, isClosed)
      reservation?.changed(isOver, isClosed, done)
      return done
    },
    touch: () => reservation?.touch(),
  }
}
