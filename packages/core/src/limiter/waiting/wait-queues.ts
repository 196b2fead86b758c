import { timersEndWithRequest } from '#platform'
import type { WaitErrorCode } from '../../errors/codes.ts'
import { WaitError } from '../../errors/wait-error.ts'
import { attempt, type MaybePromise } from '../../maybe-promise.ts'
import { checkFunction, checkInteger } from '../../options/checks.ts'
import { parseDuration } from '../../options/duration.ts'
import { fullOf } from '../../stores/rules/decide-all.ts'
import { madeOf, undone } from '../../stores/rules/slots.ts'
import type { Charge } from '../../stores/store.ts'
import type { ChargeLimiter } from '../charge-limiter.ts'
import { asRefusal, type Decision, refusingPolicy } from '../decision.ts'
import { limitOfClient } from '../enforcement.ts'
import type { ClientOptions, WaitOptions } from '../limiter.ts'
import type { Policy } from '../policy.ts'
import { isOfStore, KeyQueue, MAX_TIMER_MS, type Waiter } from './key-queue.ts'
import { Places } from './places.ts'

/** The actions of a limiter for the queues. */
export interface WaitActions {
  /** Asks the store to admit them. Publishes nothing. */
  ask(charges: readonly Charge[], address: string | undefined): MaybePromise<Decision>
  /** Previews charges that are larger than their limits. It charges nothing. */
  overLimit(charges: readonly Charge[]): MaybePromise<Decision | undefined>
  /** Gives back the charges of an admission for which nobody waits any more. */
  undo(charges: readonly Charge[], decision: Decision): MaybePromise<void>
  /** Publishes the decision with which a wait ends. */
  ended(decision: Decision, charges: readonly Charge[], durationMs: number): void
}

/** The queues of a limiter. */
export function queuesOf(
  limiter: ChargeLimiter,
  most: number,
  ask: WaitActions['ask'],
): WaitQueues {
  const actions: WaitActions = {
    ask,
    undo: (charges, decision) =>
      limiter.correct(undone(madeOf(charges, decision.policies)), decision),
    ended: (decision, charges, durationMs) => limiter.report(decision, charges, durationMs),
    // A client may have a larger limit than its policy.
    overLimit: (charges) =>
      charges.some(({ limit, cost }) => cost > fullOf(limit, Date.now()))
        ? limiter.preview(charges)
        : undefined,
  }
  const queues = new WaitQueues(actions, most)
  limiter.ledgers.whenChanged = (keys) => {
    for (const key of keys) queues.wake(key)
  }
  return queues
}

/** The queue of a request, which only an adapter knows. */
export interface RequestWait {
  /** The key whose queue it joins: that of the policy for which it waits longest. */
  readonly queueKey: string
  /** The client whose requests take turns with those of others, also where they are charged to one key. */
  readonly client: string
}

/** The most calls that the store has not answered for the first time. They have no places yet. */
const MAX_NEWCOMERS = 100_000

/**
 * Calls that wait, in a queue for each key: by priority, then first come, first served. A queue asks the store for its
 * head, when its time has come, and in the same call for those behind it that may be admitted together with it. So a
 * key causes few calls, and no key waits for another one. Who is admitted by the first answer takes no place.
 *
 * The heads of several processes spread after the moment for which all of them wait. The process that was admitted
 * longer ago comes earlier, and each takes one admission before it asks for the next one.
 */
export class WaitQueues {
  readonly #actions: WaitActions
  readonly #places: Places
  #isClosed = false
  readonly queues = new Map<unknown, KeyQueue>()
  readonly waiters = new Set<Waiter>()

  /** @param most the number of places */
  constructor(actions: WaitActions, most: number) {
    this.#actions = actions
    this.#places = new Places(most)
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
    const over = await this.#actions.overLimit(charges)
    if (over !== undefined && isForEver(over)) {
      if (request === undefined) this.#actions.ended(over, charges, 0)
      throw new WaitError('SLUICE_WAIT_NEVER', Infinity)
    }
    const queue = this.#queueOf(queueKey)
    if (signal?.aborted) throw new WaitError('SLUICE_WAIT_ABORTED', queue.waitMs, signal.reason)
    if (this.#isClosed) throw new WaitError('SLUICE_WAIT_CLOSED', queue.waitMs)
    if (this.waiters.size - this.#places.taken >= MAX_NEWCOMERS)
      throw new WaitError('SLUICE_WAIT_FULL', queue.waitMs)
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        client,
        charges,
        address,
        queue,
        priority,
        since: performance.now(),
        deadline: performance.now() + maxWaitMs,
        resolve,
        reject,
        aborted: () => this.#fail(waiter, 'SLUICE_WAIT_ABORTED', signal?.reason),
        signal,
        reports: request === undefined,
        hasPlace: false,
        admission: undefined,
        timer: undefined,
      }
      signal?.addEventListener('abort', waiter.aborted)
      this.waiters.add(waiter)
      this.#join(queue, waiter)
    })
  }

  /** The first key of these charges for which somebody waits. */
  awaitedKey(charges: readonly Charge[]): string | undefined {
    return charges.find(({ key }) => this.queues.has(key))?.key
  }

  /** Gives those who wait the limits that the policies have now. */
  relimit(policies: readonly Policy[]): void {
    for (const { charges } of this.waiters) {
      for (const [i, charge] of charges.entries()) {
        const policy = policies[i] as Policy
        charge.limit = limitOfClient(policy, charge.key, policy.compiledLimit ?? charge.limit)
      }
    }
    for (const queue of this.queues.values()) queue.free()
  }

  #queueOf(key: string): KeyQueue {
    // Where a timer ends with the request that has set it, none can wait for that of another one.
    const id = timersEndWithRequest ? Symbol() : key
    return this.queues.get(id) ?? new KeyQueue(id)
  }

  #join(queue: KeyQueue, waiter: Waiter): void {
    waiter.queue = queue
    this.queues.set(queue.id, queue)
    const isBehind = queue.head?.hasPlace === true
    queue.add(waiter)
    if (isBehind && !this.#takePlace(waiter)) return
    if (queue.isServed) queue.wake()
    else void this.#serve(queue)
  }

  /** Gives a place to one who must wait. @returns false if there is none for it: it is rejected */
  #takePlace(waiter: Waiter): boolean {
    if (waiter.hasPlace) return true
    if (!this.#places.take(waiter.client)) {
      this.#fail(waiter, 'SLUICE_WAIT_FULL')
      return false
    }
    waiter.hasPlace = true
    waiter.queue.newcomers.delete(waiter)
    return true
  }

  /**
   * Lets a refused one wait in the queue of the key that refuses it for longest: in the queue of another key, which
   * may be that of many clients, it would hold up everybody behind it.
   */
  #moveOn(waiter: Waiter, decision: Decision, askedAt: number): void {
    const { charges, queue } = waiter
    const key = charges[refusingPolicy(decision)]?.key
    if (key === undefined || key === queue.id || typeof queue.id === 'symbol') return
    queue.delete(waiter)
    queue.count -= 1
    queue.free()
    this.#forget(queue)
    const other = this.#queueOf(key)
    const refusal = queue.refusal as Decision
    if (other.count === 0) other.refused(refusal, charges, askedAt)
    this.#join(other, waiter)
  }

  /** Something may have been given back to the key, or its limit may have changed: its head asks at once. */
  wake(key: string): void {
    this.queues.get(key)?.free()
  }

  /** Rejects all who wait. */
  close(): void {
    this.#isClosed = true
    for (const waiter of this.waiters) this.#fail(waiter, 'SLUICE_WAIT_CLOSED')
  }

  async #serve(queue: KeyQueue): Promise<void> {
    queue.isServed = true
    // Those that come in the same moment join before.
    await undefined
    for (let head = queue.head; head !== undefined; head = queue.head) {
      const now = performance.now()
      if (queue.soonest < now || queue.isNews) this.#expire(queue, head, now)
      // At its deadline the head asks once more: it may be just in time.
      const askAt = queue.refuses(head.charges) ? Math.min(queue.askAt, head.deadline) : now
      if (!this.waiters.has(head)) continue
      if (askAt <= now) {
        await this.#ask(queue, now)
        continue
      }
      for (const waiter of queue.newcomers) this.#takePlace(waiter)
      if (this.waiters.has(head)) await queue.rest(Math.min(askAt, queue.soonest) - now)
    }
    queue.isServed = false
    this.#forget(queue)
  }

  /** Rejects those who are certain not to be admitted in time, behind those who come before them. */
  #expire(queue: KeyQueue, head: Waiter, now: number): void {
    queue.soonest = Infinity
    queue.isNews = false
    const ahead = (queue.refusal?.policies ?? []).map(() => 0)
    for (const waiter of queue.inLine()) {
      const { deadline } = waiter
      const at = queue.earliest(waiter, ahead)
      // For who has come since the last request, the store is asked once.
      const isAsked = waiter.hasPlace || waiter.since < queue.askedAt
      const isLate = deadline < now && waiter !== head && isAsked
      if (isLate || deadline < at) {
        this.#fail(waiter, 'SLUICE_WAIT_TOO_LONG', undefined, Math.ceil(at - now))
        continue
      }
      queue.soonest = Math.min(queue.soonest, deadline)
      waiter.charges.forEach(({ key, cost }, i) => {
        if (key === queue.refusal?.policies[i]?.key) ahead[i] = (ahead[i] as number) + cost
      })
    }
  }

  /** Asks for the head of a queue, and in the same call for those behind it. */
  async #ask(queue: KeyQueue, askedAt: number): Promise<void> {
    const batch = queue.batch()
    queue.isFreed = false
    queue.askedAt = askedAt
    const answers = await Promise.allSettled(
      batch.map(async ({ charges, address }) => this.#actions.ask(charges, address)),
    )
    const undone: Promise<void>[] = []
    let isHeldUp = false
    for (const [i, waiter] of batch.entries()) {
      const answer = answers[i] as PromiseSettledResult<Decision>
      if (answer.status === 'rejected') {
        this.#leave(waiter)
        waiter.reject(answer.reason)
      } else if (!answer.value.allowed) {
        isHeldUp ||= this.#refused(waiter, answer.value, askedAt)
      } else if (isHeldUp || !this.waiters.has(waiter)) {
        // Nobody waits for it any more, or it would overtake one for whom the store was asked before.
        undone.push(this.#undo(waiter, answer.value))
      } else {
        this.#admitted(waiter, answer.value, askedAt)
      }
    }
    await Promise.all(undone)
  }

  /** @returns whether it holds up those behind it */
  #refused(waiter: Waiter, decision: Decision, askedAt: number): boolean {
    const { charges, queue, deadline } = waiter
    const isWaiting = this.waiters.has(waiter)
    if (isForEver(decision)) {
      queue.refusal = decision
      this.#fail(waiter, 'SLUICE_WAIT_NEVER')
      return false
    }
    queue.refused(decision, charges, askedAt)
    if (deadline <= performance.now()) this.#fail(waiter, 'SLUICE_WAIT_TOO_LONG')
    else if (isWaiting) this.#moveOn(waiter, decision, askedAt)
    return this.waiters.has(waiter) && waiter.queue === queue
  }

  #admitted(waiter: Waiter, decision: Decision, askedAt: number): void {
    const { queue, deadline } = waiter
    const { delayMs } = decision
    const now = performance.now()
    if (delayMs > 0 && now + delayMs > deadline) {
      queue.refused(
        asRefusal(decision, ({ delayMs }) => delayMs),
        [],
        askedAt,
      )
      waiter.admission = decision
      this.#fail(waiter, 'SLUICE_WAIT_TOO_LONG')
      return
    }
    queue.admitted(decision, askedAt)
    queue.delete(waiter)
    waiter.admission = decision
    if (delayMs === 0 || this.#takePlace(waiter))
      this.#goOn(waiter, decision, now - askedAt, now + delayMs)
  }

  /** Lets an admitted one continue when its turn has come. */
  #goOn(waiter: Waiter, decision: Decision, durationMs: number, turnAt: number): void {
    const remainingMs = turnAt - performance.now()
    if (remainingMs > 0) {
      const again = () => this.#goOn(waiter, decision, durationMs, turnAt)
      waiter.timer = setTimeout(again, Math.min(Math.ceil(remainingMs), MAX_TIMER_MS))
      return
    }
    this.#leave(waiter)
    if (waiter.reports) this.#actions.ended(decision, waiter.charges, durationMs)
    const policies = decision.policies.map((each) => ({ ...each, delayMs: 0 }))
    waiter.resolve(decision.delayMs === 0 ? decision : { ...decision, delayMs: 0, policies })
  }

  /** @param waitMs how much longer it would have waited at least, if that is more than the first one waits, ms */
  #fail(waiter: Waiter, code: WaitErrorCode, cause?: unknown, waitMs = 0): void {
    if (!this.waiters.has(waiter)) return
    const { queue, charges, admission, reports } = waiter
    this.#leave(waiter)
    const isNever = code === 'SLUICE_WAIT_NEVER'
    waiter.reject(new WaitError(code, isNever ? Infinity : Math.max(queue.waitMs, waitMs), cause))
    if (reports && (isNever || code === 'SLUICE_WAIT_TOO_LONG') && queue.refusal !== undefined)
      this.#actions.ended(queue.refusal, charges, 0)
    if (admission === undefined) queue.wake()
    else void this.#undo(waiter, admission)
  }

  /** A charge that the store fails to take back stays. */
  async #undo({ charges, queue }: Waiter, decision: Decision): Promise<void> {
    await attempt(() => this.#actions.undo(charges, decision))
    queue.free()
  }

  #leave(waiter: Waiter): void {
    const { client, queue, signal, timer, aborted } = waiter
    if (!this.waiters.delete(waiter)) return
    if (waiter.hasPlace) this.#places.free(client)
    clearTimeout(timer)
    signal?.removeEventListener('abort', aborted)
    queue.delete(waiter)
    queue.count -= 1
    this.#forget(queue)
  }

  #forget(queue: KeyQueue): void {
    if (queue.count === 0 && !queue.isServed) this.queues.delete(queue.id)
  }
}

function isForEver(decision: Decision): boolean {
  return decision.retryAfterMs === Infinity && isOfStore(decision)
}
