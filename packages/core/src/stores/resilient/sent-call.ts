import { SluiceError } from '../../errors/sluice-error.ts'
import type { Place } from './call-line.ts'
import type { PendingCall } from './call-queue.ts'
import type { Health } from './health.ts'

/** What is asked of a store. Either `answered` or `failed` is called, once; neither may throw. */
export interface StoreCall<T> {
  ask(): Promise<T>
  answered(answer: T): void
  failed(error: unknown): void
  /** Gets an answer that comes after `failed`, since it was too late. Must not throw. */
  late?(answer: T): void
}

/** A call on its way: one object for the line, the deadline and the answer. */
export class SentCall<T> implements Place, PendingCall {
  state: Place['state'] = 'waiting'
  dueAt = 0
  before: PendingCall | undefined = undefined
  after: PendingCall | undefined = undefined
  private readonly health: Health
  private readonly call: StoreCall<T>
  private readonly unanswered: { late: number }
  /** Undefined until the store was called. */
  private askedAt: number | undefined = undefined

  /** @param unanswered where it counts while it is late */
  constructor(health: Health, call: StoreCall<T>, unanswered: { late: number }) {
    this.health = health
    this.call = call
    this.unanswered = unanswered
  }

  begin(): void {
    this.askedAt = performance.now()
    start(this.call).then(
      (answer) => this.answered(answer),
      (error) => this.failed(error),
    )
  }

  refuse(reason: unknown): void {
    this.health.leave(this)
    this.call.failed(reason)
  }

  giveUp(error: Error): void {
    this.health.leave(this)
    if (this.askedAt !== undefined) {
      this.unanswered.late += 1
      this.health.failed(error, this.askedAt)
    }
    this.call.failed(error)
  }

  private answered(answer: T): void {
    if (this.health.end(this)) {
      this.health.succeeded()
      this.call.answered(answer)
    } else {
      this.unanswered.late -= 1
      this.call.late?.(answer)
    }
  }

  private failed(error: unknown): void {
    const inTime = this.health.end(this)
    if (!inTime) this.unanswered.late -= 1
    if (inTime || error instanceof SluiceError) this.health.failed(error, this.askedAt as number)
    if (inTime) this.call.failed(error)
  }
}

/** A native promise, even if `ask` throws synchronously or returns another thenable. */
export function start<T>(call: { ask(): Promise<T> }): Promise<T> {
  try {
    return Promise.resolve(call.ask())
  } catch (error) {
    return Promise.reject(error)
  }
}
