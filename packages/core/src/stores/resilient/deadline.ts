import { type Call, CallQueue } from './call-queue.ts'

/** What a call is rejected with that has not been answered in time. */
export class DeadlineError extends Error {
  override readonly name = 'DeadlineError'
}

/**
 * Bounds how long calls may take, whatever the client that makes them promises. One timer serves
 * all calls. It measures by the monotonic clock, and what this process itself has delayed is not
 * held against the store: replies that have arrived are read before anything is given up, and
 * after a stall of the event loop the calls have their time anew, once.
 */
export class Deadline {
  private readonly ms: number
  private readonly calls = new CallQueue()
  private timer: NodeJS.Timeout | undefined
  private timerDueAt = 0

  /** @param ms 1 … 60,000 */
  constructor(ms: number) {
    this.ms = ms
  }

  /**
   * What `answered` makes of an answer that comes in time; else what `failed` makes of the error,
   * a `DeadlineError` once the time has passed. One promise for all of it: each costs as much as
   * a decision.
   *
   * @param failed gets when the call was made too, on the clock of `performance.now()`, ms
   * @param settled called when the answer has come, be it too late
   */
  bound<T, U>(
    answer: Promise<T>,
    answered: (value: T) => U,
    failed: (error: unknown, madeAt: number) => U,
    settled?: () => void,
  ): Promise<U> {
    return new Promise((resolve, reject) => {
      const fail = (error: unknown) => {
        try {
          resolve(failed(error, madeAt))
        } catch (thrown) {
          reject(thrown)
        }
      }
      const madeAt = performance.now()
      const call: Call = {
        dueAt: madeAt + this.ms,
        extended: false,
        giveUp: fail,
        before: undefined,
        after: undefined,
      }
      this.calls.add(call)
      this.arm()
      answer.then(
        (value) => {
          settled?.()
          // Given up already: somebody else has decided.
          if (!this.calls.delete(call)) return
          try {
            resolve(answered(value))
          } catch (thrown) {
            reject(thrown)
          }
        },
        (error) => {
          settled?.()
          if (this.calls.delete(call)) fail(error)
        },
      )
    })
  }

  private arm(): void {
    if (this.timer !== undefined) return
    const [next] = this.calls
    if (next === undefined) return
    this.timerDueAt = next.dueAt
    const waitMs = Math.max(1, Math.ceil(next.dueAt - performance.now()))
    this.timer = setTimeout(() => this.ring(), waitMs).unref()
  }

  private ring(): void {
    if (performance.now() - this.timerDueAt > this.ms / 2) this.extend()
    // Timers run before sockets are read: what has arrived meanwhile is read first.
    setImmediate(() => {
      this.timer = undefined
      this.expire(performance.now())
      this.arm()
    })
  }

  private extend(): void {
    const dueAt = performance.now() + this.ms
    for (const call of [...this.calls]) {
      if (call.extended) continue
      call.dueAt = dueAt
      call.extended = true
      this.calls.delete(call)
      this.calls.add(call)
    }
  }

  private expire(now: number): void {
    let error: DeadlineError | undefined
    for (const call of this.calls) {
      if (call.dueAt > now) return
      this.calls.delete(call)
      error ??= new DeadlineError(`no answer within ${this.ms} ms`)
      call.giveUp(error)
    }
  }
}
