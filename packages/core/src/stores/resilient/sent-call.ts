import { SluiceError } from '../../errors/sluice-error.ts'
import type { Place } from './call-line.ts'
import type { PendingCall } from './call-queue.ts'

/** What is asked of a store. Either `answered` or `failed` is called, once; neither may throw. */
export interface StoreCall<T> {
  ask(): Promise<T>
  answered(answer: T): void
  failed(error: unknown): void
  /** Gets an answer that comes after `failed`, since it was too late. Must not throw. */
  late?(answer: T): void
}

/** What keeps the calls on their way, and learns how they end. */
interface Sender {
  /** Ends a call whose answer has come. False: it was given up before. */
  end(call: SentCall<unknown>): boolean
  /** Ends a call that is given up. */
  leave(call: SentCall<unknown>): void
  succeeded(): void
  /** @param askedAt when the store was called, ms on the monotonic clock */
  failed(error: unknown, askedAt: number): void
}

/** A call on its way: one object for the line, the deadline and the answer. */
export class SentCall<T> implements Place, PendingCall {
  state: Place['state'] = 'waiting'
  dueAt = 0
  before: PendingCall | undefined = undefined
  after: PendingCall | undefined = undefined
  private readonly sender: Sender
  private readonly call: StoreCall<T>
  private readonly unanswered: { late: number }
  /** Undefined until the store was called. */
  private askedAt: number | undefined = undefined

  /** @param unanswered where it counts while it is late */
  constructor(sender: Sender, call: StoreCall<T>, unanswered: { late: number }) {
    this.sender = sender
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
    this.sender.leave(this)
    this.call.failed(reason)
  }

  giveUp(error: Error): void {
    this.sender.leave(this)
    if (this.askedAt !== undefined) {
      this.unanswered.late += 1
      this.sender.failed(error, this.askedAt)
    }
    this.call.failed(error)
  }

  private answered(answer: T): void {
    if (this.sender.end(this)) {
      this.sender.succeeded()
      this.call.answered(answer)
    } else {
      this.unanswered.late -= 1
      this.call.late?.(answer)
    }
  }

  private failed(error: unknown): void {
    const inTime = this.sender.end(this)
    if (!inTime) this.unanswered.late -= 1
    if (inTime || error instanceof SluiceError) this.sender.failed(error, this.askedAt as number)
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
