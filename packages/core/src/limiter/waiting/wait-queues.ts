import { timersEndWithRequest } from '#platform'
import type { WaitErrorCode } from '../../errors/codes.ts'
import { WaitError } from '../../errors/wait-error.ts'
import type { MaybePromise } from '../../maybe-promise.ts'
import { checkFunction, checkInteger } from '../../options/checks.ts'
import { parseDuration } from '../../options/duration.ts'
import type { Timer } from '../../platform/platform.ts'
import type { Charge } from '../../stores/store.ts'
import {
  asRefusal,
  certainWaitMs,
  type Decision,
  type PolicyDecision,
  refusingPolicy,
  SLOTS,
} from '../decision.ts'
import type { ClientOptions, WaitOptions } from '../limiter.ts'
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
/** Timers that are set to more than about twice that fire immediately, ms. */
const MAX_TIMER_MS = 2 ** 30

/** The actions of a limiter for the queues. */
export interface WaitActions {
  /** Asks the store to admit them. Publishes nothing. */
  ask(charges: readonly Charge[], address: string | undefined): MaybePromise<Decision>
  /** Returns the refusal of charges that are larger than their limits. It charges nothing. */
  overLimit(charges: readonly Charge[]): MaybePromise<Decision | undefined>
  /** Gives back the charges of an admission for which nobody waits any more. */
  undo(charges: readonly Charge[], decision: Decision): MaybePromise<void>
  /** Publishes the decision with which a wait ends. */
  ended(decision: Decision, charges: readonly Charge[], durationMs: number): void
}

/** The queue of a request, which only an adapter knows. */
export interface RequestWait {
  /** The key whose queue it joins: that of the policy for which it waits longest. */
  readonly queueKey: string
  /** The client whose requests take turns with those of others, also where they are charged to one key. */
  readonly client: string
}

/** Times are those of `performance.now()`, ms. */
interface Waiter {
  readonly client: string
  readonly charges: readonly Charge[]
  readonly address: string | undefined
  queue: KeyQueue
  readonly priority: number
  readonly deadline: number
  readonly resolve: (decision: Decision) => void
  readonly reject: (error: unknown) => void
  readonly aborted: () => void
  readonly signal: AbortSignal | undefined
  /** Whether the decision with which the wait ends is published here. */
  readonly reports: boolean
  /** Set when the store has admitted it, and its turn in a leaky bucket has not come. */
  admission: Decision | undefined
  timer: Timer | undefined
}

/**
 * Calls that wait, in a queue for each key: by priority, then first come, first served. Only the head of a queue asks
 * the store, when its time has come. So a key causes few calls, and no key waits for another one.
 *
 * The heads of several processes spread after the moment for which all of them wait. The process that was admitted
 * longer ago comes earlier, and each takes one admission before it asks for the next one.
 */
export class WaitQueues {
  private readonly actions: WaitActions
  /** Below 0: it is closed. */
  private most: number
  private readonly queues = new Map<unknown, KeyQueue>()
  private readonly waiters = new Set<Waiter>()
  /** How many wait for each client. */
  private readonly counts = new Map<string, number>()

  /** @param most how many may wait. A client gets another place only while it has fewer than are free */
  constructor(actions: WaitActions, most: number) {
    this.actions = actions
    this.most = most
  }

  /**
   * @param charges one or more; without `request`, of the same key
   * @param request left out: they are of an application's own call
   * @throws WaitError and SluiceError, as rejections: see `Limiter.wait`
   */
  async wait(
    charges: readonly Charge[],
    { maxWait, signal, priority = 0, address }: WaitOptions & ClientOptions,
    request?: RequestWait,
  ): Promise<Decision> {
    const [first] = charges as [Charge]
    const { queueKey, client } = request ?? { queueKey: first.key, client: first.key }
    const maxWaitMs = maxWait === undefined ? Infinity : parseDuration('maxWait', maxWait, 0)
    checkInteger('priority', priority, -1000, 1000)
    if (signal !== undefined)
      checkFunction('signal.addEventListener', signal?.addEventListener, 'of an AbortSignal')
    const over = await this.actions.overLimit(charges)
    if (over !== undefined && isForEver(over)) {
      if (request === undefined) this.actions.ended(over, charges, 0)
      throw new WaitError('SLUICE_WAIT_NEVER', Infinity)
    }
    const queue = this.queueOf(queueKey)
    if (signal?.aborted) throw new WaitError('SLUICE_WAIT_ABORTED', queue.waitMs, signal.reason)
    if ((this.counts.get(client) ?? 0) >= this.most - this.waiters.size)
      throw new WaitError(this.most < 0 ? 'SLUICE_WAIT_CLOSED' : 'SLUICE_WAIT_FULL', queue.waitMs)
    first.isUncounted = true
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        client,
        charges,
        address,
        queue,
        priority,
        deadline: performance.now() + maxWaitMs,
        resolve,
        reject,
        aborted: () => this.fail(waiter, 'SLUICE_WAIT_ABORTED', signal?.reason),
        signal,
        reports: request === undefined,
        admission: undefined,
        timer: undefined,
      }
      signal?.addEventListener('abort', waiter.aborted)
      this.waiters.add(waiter)
      this.counts.set(client, (this.counts.get(client) ?? 0) + 1)
      this.join(queue, waiter)
    })
  }

  /** The first key of these charges for which somebody waits. */
  awaitedKey(charges: readonly Charge[]): string | undefined {
    return charges.find(({ key }) => this.queues.has(key))?.key
  }

  /** @param update gives charges the limits that their policies have now */
  relimit(update: (charges: readonly Charge[]) => void): void {
    for (const { charges } of this.waiters) update(charges)
    for (const queue of this.queues.values()) queue.free()
  }

  private queueOf(key: string): KeyQueue {
    // Where a timer ends with the request that has set it, none can wait for that of another one.
    const id = timersEndWithRequest ? Symbol() : key
    return this.queues.get(id) ?? new KeyQueue(id)
  }

  private join(queue: KeyQueue, waiter: Waiter): void {
    waiter.queue = queue
    this.queues.set(queue.id, queue)
    queue.add(waiter)
    if (queue.isServed) queue.wake()
    else void this.serve(queue)
  }

  /**
   * Lets a refused one wait in the queue of the key that refuses it for longest: in the queue of another key, which
   * may be that of many clients, it would hold up everybody behind it.
   */
  private moveOn(waiter: Waiter, decision: Decision, askedAt: number): void {
    const { charges, queue } = waiter
    const key = charges[refusingPolicy(decision)]?.key
    if (key === undefined || key === queue.id || typeof queue.id === 'symbol') return
    queue.delete(waiter)
    queue.count -= 1
    queue.free()
    this.forget(queue)
    const other = this.queueOf(key)
    const refusal = queue.refusal as Decision
    if (other.count === 0) other.refused(refusal, charges, askedAt)
    this.join(other, waiter)
  }

  /** Something may have been given back to the key, or its limit may have changed: its head asks at once. */
  wake(key: string): void {
    this.queues.get(key)?.free()
  }

  /** Rejects all who wait. */
  close(): void {
    this.most = -1
    for (const waiter of this.waiters) this.fail(waiter, 'SLUICE_WAIT_CLOSED')
  }

  private async serve(queue: KeyQueue): Promise<void> {
    queue.isServed = true
    for (let head = queue.head; head !== undefined; head = queue.head) {
      const now = performance.now()
      if (queue.soonest < now || queue.isNews) this.expire(queue, head, now)
      // At its deadline the head asks once more: it may be just in time.
      const askAt = queue.refuses(head.charges) ? Math.min(queue.askAt, head.deadline) : now
      if (!this.waiters.has(head)) continue
      if (askAt > now) await queue.rest(Math.min(askAt, queue.soonest) - now)
      else await this.ask(head)
    }
    queue.isServed = false
    this.forget(queue)
  }

  /** Rejects those who are certain not to be admitted in time, behind those who come before them. */
  private expire(queue: KeyQueue, head: Waiter, now: number): void {
    queue.soonest = Infinity
    queue.isNews = false
    const ahead = (queue.refusal?.policies ?? []).map(() => 0)
    for (const waiter of queue.inLine()) {
      const { deadline } = waiter
      const at = queue.earliest(waiter, ahead)
      const isLate = deadline < now && waiter !== head
      if (isLate || deadline < at) {
        this.fail(waiter, 'SLUICE_WAIT_TOO_LONG', undefined, Math.ceil(at - now))
        continue
      }
      queue.soonest = Math.min(queue.soonest, deadline)
      waiter.charges.forEach(({ key, cost }, i) => {
        if (key === queue.refusal?.policies[i]?.key) ahead[i] = (ahead[i] as number) + cost
      })
    }
  }

  private async ask(head: Waiter): Promise<void> {
    const { charges, address, queue, deadline } = head
    const { actions } = this
    const askedAt = performance.now()
    queue.isFreed = false
    let decision: Decision
    try {
      decision = await actions.ask(charges, address)
    } catch (error) {
      this.leave(head)
      head.reject(error)
      return
    }
    const now = performance.now()
    const { allowed, delayMs } = decision
    const isWaiting = this.waiters.has(head)
    if (!allowed) {
      if (isForEver(decision)) {
        queue.refusal = decision
        this.fail(head, 'SLUICE_WAIT_NEVER')
        return
      }
      queue.refused(decision, charges, askedAt)
      if (deadline <= now) this.fail(head, 'SLUICE_WAIT_TOO_LONG')
      else if (isWaiting) this.moveOn(head, decision, askedAt)
    } else if (!isWaiting) {
      await this.undo(head, decision)
    } else if (delayMs > 0 && now + delayMs > deadline) {
      queue.refused(
        asRefusal(decision, ({ delayMs }) => delayMs),
        [],
        askedAt,
      )
      this.fail(head, 'SLUICE_WAIT_TOO_LONG')
      await this.undo(head, decision)
    } else {
      queue.admitted(decision, askedAt)
      queue.delete(head)
      head.admission = decision
      this.goOn(head, decision, now - askedAt, now + delayMs)
    }
  }

  /** Lets an admitted one continue when its turn has come. */
  private goOn(waiter: Waiter, decision: Decision, durationMs: number, turnAt: number): void {
    const remainingMs = turnAt - performance.now()
    if (remainingMs > 0) {
      const again = () => this.goOn(waiter, decision, durationMs, turnAt)
      waiter.timer = setTimeout(again, Math.min(Math.ceil(remainingMs), MAX_TIMER_MS))
      return
    }
    this.leave(waiter)
    if (waiter.reports) this.actions.ended(decision, waiter.charges, durationMs)
    const policies = decision.policies.map((each) => ({ ...each, delayMs: 0 }))
    waiter.resolve(decision.delayMs === 0 ? decision : { ...decision, delayMs: 0, policies })
  }

  /** @param waitMs how much longer it would have waited at least, if that is more than the first one waits, ms */
  private fail(waiter: Waiter, code: WaitErrorCode, cause?: unknown, waitMs = 0): void {
    if (!this.waiters.has(waiter)) return
    const { queue, charges, admission, reports } = waiter
    this.leave(waiter)
    const isNever = code === 'SLUICE_WAIT_NEVER'
    waiter.reject(new WaitError(code, isNever ? Infinity : Math.max(queue.waitMs, waitMs), cause))
    if (reports && (isNever || code === 'SLUICE_WAIT_TOO_LONG') && queue.refusal !== undefined)
      this.actions.ended(queue.refusal, charges, 0)
    if (admission === undefined) queue.wake()
    else void this.undo(waiter, admission)
  }

  /** A charge that the store fails to take back stays. */
  private async undo({ charges, queue }: Waiter, decision: Decision): Promise<void> {
    try {
      await this.actions.undo(charges, decision)
    } catch {}
    queue.free()
  }

  private leave(waiter: Waiter): void {
    const { client, queue, signal, timer, aborted } = waiter
    if (!this.waiters.delete(waiter)) return
    const count = (this.counts.get(client) as number) - 1
    if (count === 0) this.counts.delete(client)
    else this.counts.set(client, count)
    clearTimeout(timer)
    signal?.removeEventListener('abort', aborted)
    queue.delete(waiter)
    queue.count -= 1
    this.forget(queue)
  }

  private forget(queue: KeyQueue): void {
    if (queue.count === 0 && !queue.isServed) this.queues.delete(queue.id)
  }
}

class KeyQueue {
  readonly id: unknown
  /** The number of waiters in line, or admitted and waiting for their turn. */
  count = 0
  isServed = false
  /** The earliest deadline in line, or a time before it. */
  soonest = Infinity
  /** Whether a waiter or an answer has come since the last look for waiters that can't be admitted in time. */
  isNews = false
  askAt = 0
  /** The store admits none of these costs before, unless units are given back. */
  certainAt = 0
  /** The last refusal, and the time of its request. */
  refusal: Decision | undefined
  private askedAt = 0
  /** Whether units were given back since the head's last request. */
  isFreed = false
  /** Until then each process that waits for the same moment takes one admission, so that none takes all. */
  private roundEndsAt = 0
  /** When one of this process was admitted last. */
  private wonAt = -Infinity
  /** Ends a rest. */
  wake: () => void = () => {}
  /** When the wait of the last refusal ends. */
  private readyAt = 0
  private spreadMs = 0
  /** Requests that cost as much or more, in every policy, are not asked for before `askAt`. Empty: all requests. */
  private refusedCosts: readonly number[] | undefined
  /** The line of each priority. */
  private readonly line = new Map<number, ClientLine<Waiter>>()

  constructor(id: unknown) {
    this.id = id
  }

  /** How long the next admission takes at least, ms. */
  get waitMs(): number {
    return Math.max(0, Math.ceil(this.readyAt - performance.now()))
  }

  get head(): Waiter | undefined {
    let first = -Infinity
    for (const priority of this.line.keys()) if (priority > first) first = priority
    return this.line.get(first)?.head
  }

  *inLine(): Generator<Waiter, void> {
    const priorities = [...this.line.keys()].sort((one, other) => other - one)
    for (const priority of priorities) yield* this.line.get(priority) as ClientLine<Waiter>
  }

  add(waiter: Waiter): void {
    const { priority, deadline } = waiter
    const same = this.line.get(priority) ?? new ClientLine()
    same.add(waiter)
    this.line.set(priority, same)
    this.count += 1
    this.soonest = Math.min(this.soonest, deadline)
    this.isNews ||= this.soonest < Infinity
  }

  delete(waiter: Waiter): void {
    const { priority } = waiter
    this.line.get(priority)?.delete(waiter)
    if (this.line.get(priority)?.size === 0) this.line.delete(priority)
  }

  /** Forgets when the next request can be admitted. */
  free(): void {
    this.isFreed = true
    this.roundEndsAt = 0
    this.refusedCosts = undefined
    this.certainAt = 0
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
    return this.refusedCosts?.every((cost, i) => (charges[i] as Charge).cost >= cost) ?? false
  }

  /**
   * When the store admits a waiter at the earliest, by what it has said, if nobody gives anything back and nobody of
   * those before it leaves. 0: that is not known.
   *
   * @param ahead what those before it cost, units of each policy
   */
  earliest({ charges }: Waiter, ahead: readonly number[]): number {
    const { refusal, refusedCosts, askedAt } = this
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
        // After a block or a ban, all of it may be free.
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
    this.askedAt = askedAt
    this.isNews = this.soonest < Infinity
    this.readyAt = now + retryAfterMs
    const isSure = isOfStore(decision)
    // At least a millisecond: a refusal that ends now must not be asked for again in the same turn.
    const restMs = Math.max(
      1,
      Math.min(retryAfterMs, isSure ? MAX_REST_MS : MAX_REST_WITHOUT_STORE_MS),
    )
    this.spreadMs = Math.min(restMs * SPREAD, MAX_SPREAD_MS)
    // A client that was admitted longer ago comes earlier.
    const rank = 1 / (1 + (now - this.wonAt) / restMs)
    this.askAt = now + restMs + this.spreadMs * (0.25 * Math.random() + 0.75 * rank)
    this.roundEndsAt = now + restMs + this.spreadMs
    this.certainAt = isSure ? askedAt + certainWaitMs(decision) : 0
    if (this.isFreed) this.free()
    else this.refusedCosts = charges.map(({ cost }) => cost)
  }

  /** Learns when the next one is admitted at the earliest, and leaves other processes their share. */
  admitted(decision: Decision, askedAt: number): void {
    const { delayMs, remaining, policies } = decision
    this.wonAt = performance.now()
    // Before the moment for which all wait, somebody has given back, and there is no round.
    const isInRound = this.roundEndsAt - this.wonAt <= this.spreadMs
    const roundEndsAt = isInRound ? this.roundEndsAt : 0
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
      const spreadMs = (this.spreadMs * (1 + Math.random())) / 2 / (remaining + 1)
      this.askAt = Math.max(performance.now() + spreadMs, roundEndsAt)
      this.refusedCosts = this.askAt - performance.now() < 1 ? undefined : []
      this.certainAt = 0
    }
  }
}

/** Whether the store has decided, and not this process in its place. */
function isOfStore({ source }: Decision): boolean {
  return source === 'store' || source === 'cache'
}

function isForEver(decision: Decision): boolean {
  return decision.retryAfterMs === Infinity && isOfStore(decision)
}

/** Whether the policy admits nothing for a time that it knows. */
function isUsedUp({ unit, remaining, dryRun }: PolicyDecision): boolean {
  return remaining === 0 && unit !== SLOTS && !dryRun
}
