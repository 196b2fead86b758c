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

  /** @param giveUp called with a `DeadlineError` once the time has passed */
  start(giveUp: (error: Error) => void): Call {
    const call: Call = {
      dueAt: performance.now() + this.ms,
      extended: false,
      giveUp,
      before: undefined,
      after: undefined,
    }
    this.calls.add(call)
    this.arm()
    return call
  }

  /** Ends the call; false if it was over already: then somebody else has decided. */
  end(call: Call): boolean {
    const waited = this.calls.delete(call)
    if (this.calls.isEmpty) this.timer?.unref()
    return waited
  }

  /** The process stays alive as long as a call is waited for. */
  private arm(): void {
    if (this.timer !== undefined) {
      this.timer.ref()
      return
    }
    const [next] = this.calls
    if (next === undefined) return
    this.timerDueAt = next.dueAt
    const waitMs = Math.max(1, Math.ceil(next.dueAt - performance.now()))
    this.timer = setTimeout(() => this.ring(), waitMs)
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
