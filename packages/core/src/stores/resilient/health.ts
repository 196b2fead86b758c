import { SluiceError } from '../../errors/sluice-error.ts'
import { Breaker } from './breaker.ts'
import { CallLine } from './call-line.ts'
import { pendingCall } from './call-queue.ts'
import type { Deadline } from './deadline.ts'
import { SentCall, type StoreCall, start } from './sent-call.ts'

/** The most calls without an answer after their deadline: above it, the client loses them. */
const MAX_LATE = 1000
/** The most probes without an answer: a client may queue them until it is connected. */
const MAX_PROBES = 8
/** After so long without a probe, ms, unanswered probes count as lost. */
const LOST_MS = 30_000

/** Called when a part of a store is given up, when the cause is certain, and when it works again. */
export interface HealthWatch {
  down(reason: unknown): void
  /** The set-up can't work. This may become known only after the part was given up. */
  setUpFails(reason: SluiceError): void
  up(): void
}

/** Whether to call a store, or a part that fails separately, and the results of calls. */
export class Health {
  private readonly deadline: Deadline
  private readonly watch: HealthWatch
  private readonly breaker = new Breaker()
  private readonly line = new CallLine()
  /** Unanswered calls. Replaced at a recovery, because the client may have lost some. */
  private unanswered = { late: 0, probes: 0 }
  private probedAt = 0
  private lastFailure: unknown

  constructor(deadline: Deadline, watch: HealthWatch) {
    this.deadline = deadline
    this.watch = watch
  }

  /** Whether a request may wait for the store. */
  get isTrusted(): boolean {
    return !this.breaker.isOpen
  }

  /** Why the store is not trusted; undefined while it is. */
  get failure(): unknown {
    return this.lastFailure
  }

  /**
   * Calls the store, within the deadline: immediately or, if many calls are in progress, in its turn.
   * It fails if there is no answer in time, or it is an error.
   */
  send<T>(call: StoreCall<T>): void {
    const sent = new SentCall(this, call, this.unanswered)
    this.deadline.start(sent)
    this.line.enter(sent)
  }

  /** The same, as a promise. */
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
    const pending = pendingCall(() => {})
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

  /** For a call that was answered; false if that was too late. */
  end(sent: SentCall<unknown>): boolean {
    if (!this.deadline.end(sent)) return false
    this.line.leave(sent)
    return true
  }

  /** For a call that waits no longer. */
  leave(sent: SentCall<unknown>): void {
    this.deadline.end(sent)
    this.line.leave(sent)
  }

  succeeded(): void {
    if (!this.breaker.isOpen) this.breaker.succeeded()
  }

  /** @param askedAt when the store was called, ms of `performance.now()` */
  failed(error: unknown, askedAt: number): void {
    // A set-up that can't work, or a client that no longer answers.
    const final = error instanceof SluiceError || this.unanswered.late >= MAX_LATE
    if (this.breaker.failed(askedAt, performance.now(), final)) {
      this.lastFailure = error
      this.watch.down(error)
      this.line.clear(error)
    } else if (this.breaker.isOpen && error instanceof SluiceError) {
      this.lastFailure = error
      this.watch.setUpFails(error)
    }
  }

  private recover(): void {
    if (!this.breaker.isOpen) return
    this.breaker.close(performance.now())
    this.lastFailure = undefined
    this.unanswered = { late: 0, probes: 0 }
    this.watch.up()
  }
}
