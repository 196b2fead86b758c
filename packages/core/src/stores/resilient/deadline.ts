/** What a call is rejected with that has not been answered in time. */
export class DeadlineError extends Error {
  override readonly name = 'DeadlineError'
}

interface Call {
  /** On the clock of `performance.now()`, ms. */
  dueAt: number
  /** Whether it has had its time anew once. */
  extended: boolean
  reject(error: DeadlineError): void
}

/**
 * Bounds how long calls may take, whatever the client that makes them promises. One timer serves
 * all calls. It measures by the monotonic clock, and what this process itself has delayed is not
 * held against the store: replies that have arrived are read before anything is given up, and
 * after a stall of the event loop the calls have their time anew, once.
 */
export class Deadline {
  private readonly ms: number
  /** In the order in which they are due. */
  private readonly calls = new Set<Call>()
  private timer: NodeJS.Timeout | undefined
  private timerDueAt = 0

  /** @param ms 1 … 60,000 */
  constructor(ms: number) {
    this.ms = ms
  }

  /**
   * What `answer` gives, or a rejection with `DeadlineError` once the time has passed.
   *
   * @param settled called when the answer has come, be it too late
   */
  bound<T>(answer: Promise<T>, settled?: () => void): Promise<T> {
    return new Promise((resolve, reject) => {
      const call = { dueAt: performance.now() + this.ms, extended: false, reject }
      this.calls.add(call)
      this.arm()
      answer.then(
        (value) => {
          settled?.()
          this.calls.delete(call)
          resolve(value)
        },
        (error) => {
          settled?.()
          this.calls.delete(call)
          reject(error)
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
      call.reject(error)
    }
  }
}
