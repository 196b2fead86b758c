import { timersEndWithRequest, unref } from '#platform'
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
  /** Ends the renewals of the slots, which so are free after `hold` at the latest. */
  abandon(): void
  /**
   * Something has happened for the request: renews its slots if they were abandoned because nothing had, or
   * if a renewal is due that the runtime's timers may not make.
   */
  touch(): void
}

/** What is seen of a request that holds slots. */
export interface Activity {
  /** How long nothing has been seen to happen for it, ms; undefined: it is being worked on. */
  quietMs(): number | undefined
}

/** A request whose slots are renewed. */
interface HeldRequest {
  readonly ledger: Ledger
  /** Admitted, and no longer changed. */
  readonly charges: readonly Charge[]
  readonly activity: Activity | undefined
  readonly abandon: () => void
  /** The request's own timer, where timers end with their request. */
  timer: Timer | undefined
  /** When its own timer last renewed the slots, by `performance.now()`. */
  renewedAt: number
}

/**
 * The slots that this process holds for one limiter: while there are any, it renews them. One timer does so for
 * all of them. Where timers end with the request that set them, each request has one of its own: a request that
 * the runtime has dropped is renewed no longer.
 */
export class HeldSlots {
  private readonly holdMs: number
  private readonly periodMs: number
  /** The requests that are renewed, by the ledger and the charges that they were made with. */
  private readonly held = new Map<Ledger, Map<readonly Charge[], HeldRequest>>()
  private timer: Timer | undefined
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
    let isRenewed = true
    const end = (reason: 'released' | 'abandoned') => {
      isRenewed = false
      this.delete(request)
      if (!isReported) ended(reason)
      isReported = true
    }
    const abandon = () => end('abandoned')
    const renewedAt = performance.now()
    const request = { ledger, charges, activity, abandon, timer: undefined, renewedAt }
    this.insert(request)
    return {
      release: () => {
        if (!isHeld) return undefined
        isHeld = false
        end('released')
        return quietly(() => ledger.settle(givenBack(charges)))
      },
      abandon,
      touch: () => {
        const isDue = performance.now() - request.renewedAt > this.periodMs
        if (!isHeld || this.isClosed || (isRenewed && !(timersEndWithRequest && isDue))) return
        if (!isRenewed) this.insert(request)
        isRenewed = true
        this.renewOne(request)
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

  private insert(request: HeldRequest): void {
    if (timersEndWithRequest) {
      request.timer = unref(setInterval(() => this.renewOwn(request), this.periodMs))
      return
    }
    const { ledger, charges } = request
    const requests = this.held.get(ledger) ?? new Map<readonly Charge[], HeldRequest>()
    this.held.set(ledger, requests)
    requests.set(charges, request)
    this.timer ??= unref(setInterval(() => this.renew(), this.periodMs))
  }

  private delete(request: HeldRequest): void {
    clearInterval(request.timer)
    const requests = this.held.get(request.ledger)
    requests?.delete(request.charges)
    if (requests?.size === 0) this.held.delete(request.ledger)
    if (this.held.size === 0) this.stop()
  }

  private renew(): void {
    for (const [ledger, requests] of this.held) {
      for (const request of requests.values()) if (this.isQuiet(request)) request.abandon()
      for (const call of renewalCalls(requests.keys())) void quietly(() => ledger.renew?.(call))
    }
  }

  private renewOwn(request: HeldRequest): void {
    if (this.isClosed || this.isQuiet(request)) request.abandon()
    else this.renewOne(request)
  }

  private renewOne(request: HeldRequest): void {
    request.renewedAt = performance.now()
    void quietly(() => request.ledger.renew?.([request.charges]))
  }

  private isQuiet({ activity }: HeldRequest): boolean {
    return (activity?.quietMs() ?? 0) >= this.holdMs
  }
}

/** The store's failure has its own warning. */
function quietly(act: () => MaybePromise<void> | undefined): MaybePromise<void> {
  const done = act()
  return isPromise(done) ? done.catch(() => {}) : undefined
}
