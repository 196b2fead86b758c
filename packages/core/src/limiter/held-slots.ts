import { unref } from '#platform'
import { isPromise, type MaybePromise } from '../maybe-promise.ts'
import type { Timer } from '../platform/platform.ts'
import { givenBack } from '../stores/rules/slots.ts'
import { renewalCalls } from '../stores/rules/work.ts'
import type { Charge, Ledger } from '../stores/store.ts'

/** The slots of one admitted request. */
export interface HeldSlot {
  /**
   * Gives them back, once. Never rejects: what the store does not take back is no longer renewed,
   * and so free after `hold`.
   */
  release(): MaybePromise<void>
  /** They are no longer renewed, and so free after `hold` at the latest. */
  abandon(): void
}

/** The slots that this process holds for one limiter: while there are any, it renews them. */
export class HeldSlots {
  private readonly periodMs: number
  /** The charges of each request, by the ledger that they were made in. */
  private readonly held = new Map<Ledger, Set<readonly Charge[]>>()
  private timer: Timer | undefined

  /** @param holdMs the shortest time for which a slot is held without renewal */
  constructor(holdMs: number) {
    this.periodMs = holdMs / 3
  }

  /**
   * @param charges admitted, and no longer changed
   * @param ended called once, when they are no longer held
   */
  add(
    ledger: Ledger,
    charges: readonly Charge[],
    ended: (reason: 'released' | 'abandoned') => void,
  ): HeldSlot {
    const requests = this.held.get(ledger) ?? new Set()
    this.held.set(ledger, requests)
    requests.add(charges)
    this.timer ??= unref(setInterval(() => this.renew(), this.periodMs))
    let isHeld = true
    let isRenewed = true
    const end = (reason: 'released' | 'abandoned') => {
      if (!isRenewed) return
      isRenewed = false
      this.delete(ledger, charges)
      ended(reason)
    }
    return {
      release: () => {
        if (!isHeld) return undefined
        isHeld = false
        end('released')
        return quietly(() => ledger.settle(givenBack(charges)))
      },
      abandon: () => end('abandoned'),
    }
  }

  /** Renews none any more. */
  close(): void {
    clearInterval(this.timer)
    this.timer = undefined
    this.held.clear()
  }

  private delete(ledger: Ledger, charges: readonly Charge[]): void {
    const requests = this.held.get(ledger)
    requests?.delete(charges)
    if (requests?.size === 0) this.held.delete(ledger)
    if (this.held.size === 0) this.close()
  }

  private renew(): void {
    for (const [ledger, requests] of this.held) {
      for (const call of renewalCalls(requests)) void quietly(() => ledger.renew?.(call))
    }
  }
}

/** The store's failure has its own warning. */
function quietly(act: () => MaybePromise<void> | undefined): MaybePromise<void> {
  const done = act()
  return isPromise(done) ? done.catch(() => {}) : undefined
}
