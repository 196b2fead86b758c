import { SluiceError } from '../../errors.ts'
import { Breaker } from './breaker.ts'
import type { Deadline } from './deadline.ts'

/** Calls that may be unanswered at a time, late ones included. */
const MAX_IN_FLIGHT = 1000
/** Probes that may be unanswered at a time: a client may queue them until it is connected. */
const MAX_PROBES = 8
/** After so long without a probe, ms, those that are unanswered are held for lost. */
const LOST_MS = 30_000

/** Told when a part of a store is given up, and when it is trusted again. */
export interface HealthWatch {
  down(reason: unknown): void
  up(): void
}

/** Whether a store, or a part of one that fails on its own, is asked; and what came of it. */
export class Health {
  private readonly deadline: Deadline
  private readonly watch: HealthWatch
  private readonly breaker = new Breaker()
  /** Unanswered, late ones included. Made anew at a recovery: the client may have lost some. */
  private flight = { calls: 0, probes: 0 }
  private probedAt = 0

  constructor(deadline: Deadline, watch: HealthWatch) {
    this.deadline = deadline
    this.watch = watch
  }

  /** Whether a request may wait for the store. */
  get isTrusted(): boolean {
    return !this.breaker.isOpen && this.flight.calls < MAX_IN_FLIGHT
  }

  /**
   * Asks the store, within the deadline.
   *
   * @param answered what to make of the answer
   * @param failed what to do instead, if there is none in time or it is an error
   */
  call<T, U>(
    ask: () => Promise<T>,
    answered: (value: T) => U,
    failed: (error: unknown) => U,
  ): Promise<U> {
    const { flight, breaker } = this
    flight.calls += 1
    return this.deadline.bound(
      start(ask),
      (value) => {
        if (!breaker.isOpen) breaker.succeeded()
        return answered(value)
      },
      (error, askedAt) => {
        // A set-up that can't work, or one that answers nothing any more.
        const final = error instanceof SluiceError || flight.calls >= MAX_IN_FLIGHT
        if (breaker.failed(askedAt, performance.now(), final)) this.watch.down(error)
        return failed(error)
      },
      () => {
        flight.calls -= 1
      },
    )
  }

  /** Tries whether the store is back, if it is time for that. Nobody waits for it. */
  probe(ask: () => Promise<unknown>): void {
    const { breaker } = this
    const now = performance.now()
    if (!breaker.isProbeDue(now)) return
    if (this.flight.probes >= MAX_PROBES) {
      if (now - this.probedAt < LOST_MS) return
      this.flight = { calls: 0, probes: 0 }
    }
    const { flight } = this
    this.probedAt = now
    breaker.schedule(now)
    flight.probes += 1
    const answer = start(ask)
    answer.then(
      () => {
        flight.probes -= 1
        breaker.hasten(performance.now())
      },
      () => {
        flight.probes -= 1
      },
    )
    void this.deadline.bound(
      answer,
      () => this.recover(),
      () => {},
    )
  }

  private recover(): void {
    if (!this.breaker.isOpen) return
    this.breaker.close(performance.now())
    this.flight = { calls: 0, probes: 0 }
    this.watch.up()
  }
}

/** A promise of ours, even if `ask` throws at once or its promise is of another make. */
function start<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return Promise.resolve(ask())
  } catch (error) {
    return Promise.reject(error)
  }
}
