import { SluiceError } from '../../errors/sluice-error.ts'
import type { Ledger } from '../store.ts'
import { Breaker } from './breaker.ts'
import { Deadline, PendingCall } from './deadline.ts'
import { StoreHealth } from './store-health.ts'

/** The most calls in progress at the same time. */
const MAX_ACTIVE = 1000
/** The most calls that wait: about as many as a Redis answers in 100 ms. */
const MAX_WAITING = 10_000
/** The most calls without an answer after their deadline: above it, the client loses them. */
const MAX_LATE = 1000
/** The most probes without an answer: a client may queue them until it is connected. */
const MAX_PROBES = 8
/** How long unanswered probes may stay without a further probe, ms, before they count as lost. */
const LOST_MS = 30_000

/** What is asked of a store. Either `answered` or `failed` is called, once; neither may throw. */
export interface StoreCall<T> {
  ask(): Promise<T>
  answered(answer: T): void
  failed(error: unknown): void
  /** Gets an answer that comes after `failed`, since it was too late. Must not throw. */
  late?(answer: T): void
}

/**
 * Calls a store, or a part of it that fails separately: each within the deadline, a bounded number at
 * the same time, and none but probes while the breaker is open.
 */
export class StoreCalls {
  /** Whether a request may wait for the store. */
  isTrusted = true
  /** Why the store is not trusted; undefined while it is. */
  failure: unknown = undefined
  private readonly deadline: Deadline
  private readonly health: StoreHealth
  private readonly breaker = new Breaker()
  private active = 0
  /** Calls that begin in their order, so that a burst of requests is work for a store, not its failure. */
  private waiting: SentCall[] = []
  /** The index of the next call in `waiting`: those before it have begun. */
  private next = 0
  /** Unanswered calls. Replaced at a recovery, because the client may have lost some. */
  private unanswered = { late: 0, probes: 0 }
  private probedAt = 0

  constructor(deadline: Deadline, health: StoreHealth) {
    this.deadline = deadline
    this.health = health
  }

  /**
   * Calls the store: immediately or, if many calls are in progress, in its turn. It fails if there is
   * no answer in time, or it is an error.
   */
  send<T>(call: StoreCall<T>): void {
    const sent = new SentCall(this, call as StoreCall<unknown>, this.unanswered)
    this.deadline.start(sent)
    if (this.active < MAX_ACTIVE) this.begin(sent)
    else if (this.waiting.length - this.next < MAX_WAITING) this.waiting.push(sent)
    else this.refuse(sent, new Error('too many calls wait for the store'))
  }

  /** Sends a call as `send` does, and returns its answer as a promise. */
  call<T>(ask: () => Promise<T>): Promise<T> {
    return new Promise((answered, failed) => this.send({ ask, answered, failed }))
  }

  /** Sends a probe in the background, if it is time for one. */
  probe(ask: () => Promise<unknown>): void {
    const { breaker } = this
    const now = performance.now()
    if (!breaker.isProbeDue(now)) return
    if (this.unanswered.probes >= MAX_PROBES) {
      if (now - this.probedAt < LOST_MS) return
      this.unanswered = { late: 0, probes: 0 }
    }
    const { unanswered } = this
    this.probedAt = now
    breaker.schedule(now)
    unanswered.probes += 1
    const pending = new Probe()
    this.deadline.start(pending)
    start({ ask }).then(
      () => {
        unanswered.probes -= 1
        if (this.deadline.end(pending)) this.recover()
        else breaker.hasten(performance.now())
      },
      (error) => {
        unanswered.probes -= 1
        this.deadline.end(pending)
        if (error instanceof SluiceError) this.failed(error, now)
      },
    )
  }

  /** Ends a call whose deadline has passed. */
  giveUp(sent: SentCall, error: Error): void {
    if (sent.askedAt !== undefined) {
      sent.unanswered.late += 1
      this.active -= 1
      if (this.waiting.length > 0) this.beginWaiting()
      this.failed(error, sent.askedAt)
    }
    sent.call.failed(error)
  }

  private begin(sent: SentCall): void {
    this.active += 1
    sent.askedAt = performance.now()
    start(sent.call).then(
      (answer) => this.answer(sent, answer),
      (error) => this.fail(sent, error),
    )
  }

  private answer(sent: SentCall, answer: unknown): void {
    if (!this.deadline.end(sent)) {
      sent.unanswered.late -= 1
      sent.call.late?.(answer)
      return
    }
    this.active -= 1
    if (this.waiting.length > 0) this.beginWaiting()
    if (this.isTrusted && this.breaker.failures > 0) this.breaker.succeeded()
    sent.call.answered(answer)
  }

  private fail(sent: SentCall, error: unknown): void {
    const inTime = this.deadline.end(sent)
    if (inTime) this.active -= 1
    else sent.unanswered.late -= 1
    if (this.waiting.length > 0) this.beginWaiting()
    if (inTime || error instanceof SluiceError) this.failed(error, sent.askedAt as number)
    if (inTime) sent.call.failed(error)
  }

  /** Refuses a call that has not begun. */
  private refuse(sent: SentCall, reason: unknown): void {
    this.deadline.end(sent)
    sent.call.failed(reason)
  }

  /** Calls in progress are over: those that wait take their turn. */
  private beginWaiting(): void {
    while (this.next < this.waiting.length && this.active < MAX_ACTIVE) {
      const following = this.waiting[this.next] as SentCall
      this.next += 1
      if (this.next === this.waiting.length || this.next === MAX_ACTIVE) {
        this.waiting = this.waiting.slice(this.next)
        this.next = 0
      }
      if (following.isPending) this.begin(following)
    }
  }

  /** @param askedAt when the store was called, ms of `performance.now()` */
  private failed(error: unknown, askedAt: number): void {
    // A set-up that can't work, or a client that no longer answers.
    const final = error instanceof SluiceError || this.unanswered.late >= MAX_LATE
    if (this.breaker.failed(askedAt, performance.now(), final)) {
      this.isTrusted = false
      this.failure = error
      this.health.down(error)
      const refused = this.waiting.slice(this.next)
      this.waiting = []
      this.next = 0
      for (const sent of refused) if (sent.isPending) this.refuse(sent, error)
    } else if (this.breaker.isOpen && error instanceof SluiceError) {
      this.failure = error
      this.health.setUpFails(error)
    }
  }

  private recover(): void {
    if (!this.breaker.isOpen) return
    this.breaker.close(performance.now())
    this.isTrusted = true
    this.failure = undefined
    this.unanswered = { late: 0, probes: 0 }
    this.health.up()
  }
}

/** The calls to each part of a store, with one deadline. */
export class PartCalls {
  private readonly deadline: Deadline
  private readonly health = new StoreHealth()
  private readonly parts: StoreCalls[] = []

  /** @param deadlineMs the longest that a call may take, 1 … 60,000 */
  constructor(deadlineMs: number) {
    this.deadline = new Deadline(deadlineMs)
  }

  /** The calls to the part of the store that has a key. */
  of(ledger: Pick<Ledger, 'part'>, key: string): StoreCalls {
    const part = ledger.part === undefined ? 0 : ledger.part(key)
    const known = this.parts[part]
    if (known !== undefined) return known
    const calls = new StoreCalls(this.deadline, this.health)
    this.parts[part] = calls
    return calls
  }

  /** Ends the reports of the store's health: nothing uses the store any more. */
  close(): void {
    this.health.close()
  }
}

/** A call on its way: one object for the queue, the deadline and the answer. */
class SentCall extends PendingCall {
  readonly call: StoreCall<unknown>
  /** Where it counts while it is late. */
  readonly unanswered: { late: number }
  /** When the store was called, ms of `performance.now()`; undefined while the call waits. */
  askedAt: number | undefined = undefined
  private readonly calls: StoreCalls

  constructor(calls: StoreCalls, call: StoreCall<unknown>, unanswered: { late: number }) {
    super()
    this.calls = calls
    this.call = call
    this.unanswered = unanswered
  }

  giveUp(error: Error): void {
    this.calls.giveUp(this, error)
  }
}

/** A probe has nobody who waits for it. */
class Probe extends PendingCall {
  giveUp(): void {}
}

/** A native promise, even if `ask` throws synchronously or returns another thenable. */
function start<T>(call: { ask(): Promise<T> }): Promise<T> {
  try {
    return Promise.resolve(call.ask())
  } catch (error) {
    return Promise.reject(error)
  }
}
