import { random32, timersEndWithRequest, unref } from '#platform'
import { attempt, type MaybePromise } from '../maybe-promise.ts'
import type { Timer } from '../platform/platform.ts'
import { givenBack } from '../stores/rules/slots.ts'
import { renewalCalls } from '../stores/rules/work.ts'
import type { Charge, Ledger, StoreMode } from '../stores/store.ts'
import type { Policy } from './policy.ts'
import type { PolicyLedgers } from './policy-ledgers.ts'

let lastSlot: number | undefined

/** The number of a slot, 1 … 2^53 − 1: none that another process has in use, as good as certainly. */
export function nextSlot(): number {
  // A process begins at 48 random bits. Some runtimes have none before the first request.
  lastSlot ??= (random32() * 2 ** 16 + (random32() >>> 16)) * 2 ** 5
  lastSlot = lastSlot === Number.MAX_SAFE_INTEGER ? 1 : lastSlot + 1
  return lastSlot
}

/**
 * The slots that this process holds for one limiter: while there are any, it renews them. One timer does so for
 * all of them. Where timers end with the request that set them, each request has one of its own: a request that
 * the runtime has dropped is renewed no longer.
 */
export class HeldSlots {
  /** The shortest time for which a slot is held without renewal. */
  readonly holdMs: number
  readonly periodMs: number
  /** The requests whose slots are renewed. */
  readonly #renewed = new Set<HeldSlot>()
  #timer: Timer | undefined
  isClosed = false
  readonly ledgers: PolicyLedgers<StoreMode>

  /** Renews the slots and reservations of these policies. */
  constructor(policies: readonly Policy[], ledgers: PolicyLedgers<StoreMode>) {
    this.ledgers = ledgers
    this.holdMs = Math.min(...policies.map(({ holdMs }) => holdMs as number))
    this.periodMs = this.holdMs / 3
  }

  /** Renews none any more: those that are held, and those that the store admits later, end after `hold`. */
  close(): void {
    this.isClosed = true
    this.#renewed.clear()
    this.#stop()
  }

  add(slot: HeldSlot): void {
    if (this.isClosed) return
    this.#renewed.add(slot)
    if (timersEndWithRequest) {
      slot.timer = unref(setInterval(() => this.#renewOne(slot), this.periodMs))
    } else {
      this.#timer ??= unref(setInterval(() => this.#renewAll(), this.periodMs))
    }
  }

  delete(slot: HeldSlot): void {
    clearInterval(slot.timer)
    this.#renewed.delete(slot)
    if (this.#renewed.size === 0) this.#stop()
  }

  #stop(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #renewOne(slot: HeldSlot): void {
    if (this.isClosed || slot.isQuiet) slot.abandon()
    else slot.renew()
  }

  #renewAll(): void {
    for (const slot of this.#renewed) if (slot.isQuiet) slot.abandon()
    const slots = [...this.#renewed]
    for (const ledger of new Set(slots.map((slot) => slot.ledger))) {
      const requests = slots.filter((slot) => slot.ledger === ledger)
      const calls = renewalCalls(requests.map(({ charges }) => charges))
      // The store's failure has its own warning; one of a synchronous store must not end a process by this timer.
      for (const call of calls) void attempt(() => ledger.change({ kind: 'renew', requests: call }))
    }
  }
}

/** The slots of one admitted request, which this process renews until they are given back. */
export class HeldSlot {
  readonly ledger: Ledger
  /** Admitted, and no longer changed. */
  readonly charges: readonly Charge[]
  /** The request's own timer, where timers end with their request. */
  timer: Timer | undefined
  readonly #all: HeldSlots
  readonly ended: (reason: 'released' | 'abandoned') => void
  readonly activity: { quietMs(): number | undefined } | undefined
  #state: 'renewed' | 'abandoned' | 'released' = 'renewed'
  #isReported = false
  /** When its own timer last renewed the slots, by `performance.now()`. */
  #renewedAt = performance.now()

  /**
   * @param ended called once, when they are no longer held
   * @param activity how long nothing has been seen to happen for the request, ms; undefined: it is being worked
   *   on. Left out: its slots are renewed until they are released or abandoned
   */
  constructor(
    all: HeldSlots,
    ledger: Ledger,
    charges: readonly Charge[],
    ended: HeldSlot['ended'],
    activity?: HeldSlot['activity'],
  ) {
    this.#all = all
    this.ledger = ledger
    this.charges = charges
    this.ended = ended
    this.activity = activity
    all.add(this)
  }

  get isQuiet(): boolean {
    return (this.activity?.quietMs() ?? 0) >= this.#all.holdMs
  }

  /**
   * Gives them back, once. Never rejects: what the store does not take back is no longer renewed,
   * and so free after `hold`.
   */
  release(): MaybePromise<void> {
    if (this.#state === 'released') return undefined
    this.#end('released')
    const isSlot = ({ limit, claim }: Charge) => limit.algorithm.holdsSlots && claim !== undefined
    if (!this.charges.some(isSlot)) return undefined
    const change = { kind: 'settle', charges: givenBack(this.charges) } as const
    return attempt(() => this.#all.ledgers.change(this.ledger, change))
  }

  /** Ends the renewals of the slots, which so are free after `hold` at the latest. */
  abandon(): void {
    if (this.#state === 'renewed') this.#end('abandoned')
  }

  /**
   * Something has happened for the request: renews its slots if they were abandoned because nothing had, or
   * if a renewal is due that the runtime's timers may not make.
   */
  touch(): void {
    const all = this.#all
    const state = this.#state
    const isDue = timersEndWithRequest && performance.now() - this.#renewedAt > all.periodMs
    if (all.isClosed || state === 'released' || (state === 'renewed' && !isDue)) return
    if (state === 'abandoned') all.add(this)
    this.#state = 'renewed'
    this.renew()
  }

  renew(): void {
    this.#renewedAt = performance.now()
    void attempt(() => this.ledger.change({ kind: 'renew', requests: [this.charges] }))
  }

  #end(state: 'released' | 'abandoned'): void {
    this.#state = state
    this.#all.delete(this)
    if (!this.#isReported) this.ended(state)
    this.#isReported = true
  }
}
