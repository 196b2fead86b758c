import type { Timer } from '../../platform/platform.ts'
import type { Charge } from '../../stores/store.ts'
import {
  asRefusal,
  certainWaitMs,
  type Decision,
  isUsedUp,
  type PolicyDecision,
} from '../decision.ts'
import { ClientLine } from './client-line.ts'

/** The longest rest of a queue, ms: another process may have raised the limit, or given units back. */
const MAX_REST_MS = 30_000
/** The longest rest while the store is down, ms: its recovery is noticed by calls alone. */
const MAX_REST_WITHOUT_STORE_MS = 2000
/** The processes that wait for the same moment spread over this part of the wait, and so many ms at most. */
const SPREAD = 0.03
const MAX_SPREAD_MS = 1000
/** So long before a turn of a leaky bucket has come, the next one is taken, ms. */
const AHEAD_MS = 50
/** A process that is not alone takes this part of what is left in one call, or a unit. */
const SHARE = 1 / 64
/** Timers that are set to more than about twice that fire immediately, ms. */
export const MAX_TIMER_MS = 2 ** 30

/** Times are those of `performance.now()`, ms. */
export interface Waiter {
  readonly client: string
  readonly charges: readonly Charge[]
  readonly address: string | undefined
  queue: KeyQueue
  readonly priority: number
  readonly since: number
  readonly deadline: number
  readonly resolve: (decision: Decision) => void
  readonly reject: (error: unknown) => void
  readonly aborted: () => void
  readonly signal: AbortSignal | undefined
  /** Whether the decision with which the wait ends is published here. */
  readonly reports: boolean
  /** Whether it has taken a place: it has been refused, or stands behind one that has. */
  hasPlace: boolean
  /** Set when the store has admitted it, and its turn in a leaky bucket has not come. */
  admission: Decision | undefined
  timer: Timer | undefined
}

/** The queue of a key, which knows when the store may admit its head. */
export class KeyQueue {
  readonly id: unknown
  /** The number of waiters in line, or admitted and waiting for their turn. */
  count = 0
  /** The waiters in line that have no place, in the order in which they have come. */
  readonly newcomers = new Set<Waiter>()
  isServed = false
  /** The earliest deadline in line, or a time before it. */
  soonest = Infinity
  /** Whether a waiter or an answer has come since the last look for waiters that can't be admitted in time. */
  isNews = false
  askAt = 0
  /** The store admits none of these costs before, unless units are given back. */
  certainAt = 0
  /** The time of the last request. */
  askedAt = -Infinity
  /** The last refusal, and the time of its request. */
  refusal: Decision | undefined
  #refusedAt = 0
  /** The last admission, if it is the last answer. */
  #admission: Decision | undefined
  /** How many the last request was for. */
  #together = 1
  /** Whether units were given back since the head's last request. */
  isFreed = false
  /** Until then each process that waits for the same moment takes one admission, so that none takes all. */
  #roundEndsAt = 0
  /** When one of this process was admitted last. */
  #wonAt = -Infinity
  /** Ends a rest. */
  wake: () => void = () => {}
  /** When the wait of the last refusal ends. */
  #readyAt = 0
  #spreadMs = 0
  /** Requests that cost as much or more, in every policy, are not asked for before `askAt`. Empty: all requests. */
  #refusedCosts: readonly number[] | undefined
  /** The line of each priority. */
  readonly #line = new Map<number, ClientLine<Waiter>>()

  constructor(id: unknown) {
    this.id = id
  }

  /** How long the next admission takes at least, ms. */
  get waitMs(): number {
    return Math.max(0, Math.ceil(this.#readyAt - performance.now()))
  }

  get head(): Waiter | undefined {
    let first = -Infinity
    for (const priority of this.#line.keys()) if (priority > first) first = priority
    return this.#line.get(first)?.head
  }

  *inLine(): Generator<Waiter, void> {
    const priorities = [...this.#line.keys()].sort((one, other) => other - one)
    for (const priority of priorities) yield* this.#line.get(priority) as ClientLine<Waiter>
  }

  add(waiter: Waiter): void {
    const { priority, deadline } = waiter
    const same = this.#line.get(priority) ?? new ClientLine()
    same.add(waiter)
    this.#line.set(priority, same)
    if (!waiter.hasPlace) this.newcomers.add(waiter)
    this.count += 1
    this.soonest = Math.min(this.soonest, deadline)
    this.isNews ||= this.soonest < Infinity
  }

  delete(waiter: Waiter): void {
    const { priority } = waiter
    this.newcomers.delete(waiter)
    this.#line.get(priority)?.delete(waiter)
    if (this.#line.get(priority)?.size === 0) this.#line.delete(priority)
  }

  /**
   * Returns the waiters for whom the store may be asked in one call, from the head on: if one of them is refused, so is
   * who is behind it. So each costs as much as those before it or, by the last answer, fits in what is left behind them.
   */
  batch(): readonly Waiter[] {
    const admission = this.#admission
    const most = this.#spreadMs === 0 ? Infinity : (admission?.remaining ?? 0) * SHARE
    const batch: Waiter[] = []
    const asked = new Map<string, { most: number; sum: number }>()
    for (const waiter of this.inLine()) {
      const fits = waiter.charges.every(({ key, cost, limit }, i) => {
        const before = asked.get(`${i} ${key}`)
        if (before === undefined || !limit.refuses || cost >= before.most) return true
        const policy = admission?.policies[i]
        return policy?.key === key && before.sum + cost <= policy.remaining
      })
      if (!fits || (batch.length > 0 && (batch.length >= most || takesTurns(waiter)))) break
      batch.push(waiter)
      for (const [i, { key, cost }] of waiter.charges.entries()) {
        const before = asked.get(`${i} ${key}`) ?? { most: 0, sum: 0 }
        asked.set(`${i} ${key}`, {
          most: Math.max(cost, before.most),
          sum: cost + before.sum,
        })
      }
    }
    this.#together = batch.length
    return batch
  }

  /** Forgets when the next request can be admitted. */
  free(): void {
    this.isFreed = true
    this.#roundEndsAt = 0
    this.#refusedCosts = undefined
    this.wake()
  }

  rest(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, Math.min(Math.ceil(ms), MAX_TIMER_MS))
      this.wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  /** Whether the store has refused what costs as little, and need not be asked before `askAt`. */
  refuses(charges: readonly Charge[]): boolean {
    return this.#refusedCosts?.every((cost, i) => (charges[i] as Charge).cost >= cost) ?? false
  }

  /**
   * When the store admits a waiter at the earliest, by what it has said, if nobody gives anything back and nobody of
   * those before it leaves. 0: that is not known.
   *
   * @param ahead what those before it cost, units of each policy
   */
  earliest({ charges }: Waiter, ahead: readonly number[]): number {
    const refusedCosts = this.#refusedCosts
    const askedAt = this.#refusedAt
    const { refusal } = this
    if (this.certainAt === 0 || refusal === undefined || refusedCosts === undefined) return 0
    let latest = 0
    for (const [i, policy] of refusal.policies.entries()) {
      const { at, limit, windowMs, retryAfterMs, resetMs } = policy
      const charge = charges[i] as Charge
      if (policy.key !== charge.key || certainWaitMs({ policies: [policy] }) === 0) continue
      const { cost } = charge
      const before = ahead[i] as number
      const refused = refusedCosts[i] ?? cost
      if (before + cost < refused) continue
      const line = {
        ahead: before,
        cost,
        // After a block, all of it may be free.
        free: retryAfterMs === resetMs ? limit : refused,
        at: at + retryAfterMs,
        limit,
        windowMs,
      }
      latest = Math.max(latest, (charge.limit.earliest?.(line) ?? line.at) - at)
    }
    return latest === 0 ? 0 : askedAt + latest
  }

  /** Learns that these charges are refused, or if there are none, all; the store was asked at `askedAt`. */
  refused(decision: Decision, charges: readonly Charge[], askedAt: number): void {
    const { retryAfterMs } = decision
    const now = performance.now()
    this.refusal = decision
    this.#refusedAt = askedAt
    this.#admission = undefined
    this.isNews = this.soonest < Infinity
    this.#readyAt = now + retryAfterMs
    const isSure = isOfStore(decision)
    // At least a millisecond: a refusal that ends now must not be asked for again in the same turn.
    const restMs = Math.max(
      1,
      Math.min(retryAfterMs, isSure ? MAX_REST_MS : MAX_REST_WITHOUT_STORE_MS),
    )
    this.#spreadMs = Math.min(restMs * SPREAD, MAX_SPREAD_MS)
    // A client that was admitted longer ago comes earlier.
    const rank = 1 / (1 + (now - this.#wonAt) / restMs)
    this.askAt = now + restMs + this.#spreadMs * (0.25 * Math.random() + 0.75 * rank)
    this.#roundEndsAt = now + restMs + this.#spreadMs
    this.certainAt = isSure ? askedAt + certainWaitMs(decision) : 0
    if (this.isFreed) this.free()
    else this.#refusedCosts = charges.map(({ cost }) => cost)
  }

  /** Learns when the next one is admitted at the earliest, and leaves other processes their share. */
  admitted(decision: Decision, askedAt: number): void {
    const { delayMs, remaining, policies } = decision
    this.#wonAt = performance.now()
    this.#admission = decision
    // Before the moment for which all wait, somebody has given back, and there is no round.
    const isInRound = this.#roundEndsAt - this.#wonAt <= this.#spreadMs
    const roundEndsAt = isInRound ? this.#roundEndsAt : 0
    if (delayMs > 0) {
      this.refused(
        asRefusal(decision, (each) => each.delayMs),
        [],
        askedAt,
      )
      this.askAt = performance.now() + delayMs - AHEAD_MS
    } else if (policies.some(isUsedUp) && isOfStore(decision)) {
      const waitOf = (each: PolicyDecision) => (isUsedUp(each) ? each.effectiveMs : 0)
      this.refused(asRefusal(decision, waitOf), [], askedAt)
      this.askAt = Math.max(this.askAt, roundEndsAt)
    } else {
      const spreadMs = (this.#together * this.#spreadMs * (1 + Math.random())) / 2 / (remaining + 1)
      this.askAt = Math.max(performance.now() + spreadMs, roundEndsAt)
      this.#refusedCosts = this.askAt - performance.now() < 1 ? undefined : []
      this.certainAt = 0
    }
  }
}

/** Whether the store has decided, and not this process in its place. */
export function isOfStore({ source }: Decision): boolean {
  return source === 'store' || source === 'cache' || source === 'lease'
}

/** Whether one of its policies admits for a later time: its turns are taken one after the other. */
function takesTurns({ charges }: Waiter): boolean {
  return charges.some(({ limit }) => limit.algorithm.options.maxDelay !== undefined)
}
