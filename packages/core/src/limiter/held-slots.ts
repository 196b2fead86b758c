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
  /**
   * Something has happened for the request: renews its slots if that is overdue, because the runtime
   * has dropped the timer, or because nothing had happened for so long that they were abandoned.
   */
  touch(): void
}

/** What is seen of a request that holds slots. */
export interface Activity {
  /** How long nothing has been seen to happen for it, ms; undefined: it is being worked on. */
  quietMs(): number | undefined
}

interface HeldRequest {
  readonly activity: Activity | undefined
  readonly abandon: () => void
}

/** The slots that this process holds for one limiter: while there are any, it renews them. */
export class HeldSlots {
  private readonly holdMs: number
  private readonly periodMs: number
  /** The charges of each request, by the ledger that they were made in, and what abandons it. */
  private readonly held = new Map<Ledger, Map<readonly Charge[], HeldRequest>>()
  private timer: Timer | undefined
  /** When the timer was started or has last fired. */
  private renewedAt = 0
  private isClosed = false

  /** @param holdMs the shortest time for which a slot is held without renewal */
  constructor(holdMs: number) {
    this.holdMs = holdMs
    this.periodMs = holdMs / 3
  }

  /**
   * @param charges admitted, and no longer changed
   * @param ended called once, when they are no longer held
   * @param activity left out: they are renewed until they are released or abandoned
   */
  add(
    ledger: Ledger,
    charges: readonly Charge[],
    ended: (reason: 'released' | 'abandoned') => void,
    activity?: Activity,
  ): HeldSlot {
    let isHeld = true
    let isReported = false
    const end = (reason: 'released' | 'abandoned') => {
      this.delete(ledger, charges)
      if (!isReported) ended(reason)
      isReported = true
    }
    const abandon = () => end('abandoned')
    this.insert(ledger, charges, { activity, abandon })
    this.restart()
    return {
      release: () => {
        if (!isHeld) return undefined
        isHeld = false
        end('released')
        return quietly(() => ledger.settle(givenBack(charges)))
      },
      abandon,
      touch: () => {
        if (!isHeld || this.isClosed) return
        const isNew = this.insert(ledger, charges, { activity, abandon })
        if (isNew) void quietly(() => ledger.renew?.([charges]))
        this.restart()
      },
    }
  }

  /** Renews none any more. */
  close(): void {
    this.isClosed = true
    this.held.clear()
    this.stop()
  }

  private stop(): void {
    clearInterval(this.timer)
    this.timer = undefined
  }

  /** @returns whether it was not there */
  private insert(ledger: Ledger, charges: readonly Charge[], request: HeldRequest): boolean {
    const requests = this.held.get(ledger) ?? new Map<readonly Charge[], HeldRequest>()
    this.held.set(ledger, requests)
    if (requests.has(charges)) return false
    requests.set(charges, request)
    return true
  }

  /** Starts the timer, also in place of one that should have fired: runtimes may drop it with its request. */
  private restart(): void {
    const now = performance.now()
    const isOverdue = this.timer !== undefined && now - this.renewedAt > 1.5 * this.periodMs
    if (this.timer !== undefined && !isOverdue) return
    clearInterval(this.timer)
    this.timer = unref(setInterval(() => this.renew(), this.periodMs))
    this.renewedAt = now
    if (isOverdue) this.renew()
  }

  private delete(ledger: Ledger, charges: readonly Charge[]): void {
    const requests = this.held.get(ledger)
    requests?.delete(charges)
    if (requests?.size === 0) this.held.delete(ledger)
    if (this.held.size === 0) this.stop()
  }

  private renew(): void {
    this.renewedAt = performance.now()
    for (const [ledger, requests] of this.held) {
      for (const { activity, abandon } of requests.values())
        if ((activity?.quietMs() ?? 0) >= this.holdMs) abandon()
      for (const call of renewalCalls(requests.keys())) void quietly(() => ledger.renew?.(call))
    }
  }
}

/** The store's failure has its own warning. */
function quietly(act: () => MaybePromise<void> | undefined): MaybePromise<void> {
  const done = act()
  return isPromise(done) ? done.catch(() => {}) : undefined
}
