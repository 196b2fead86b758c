import { CallQueue, type PendingCall } from './call-queue.ts'

/** What a call is rejected with that has not been answered in time. */
export class DeadlineError extends Error {
  override readonly name = 'DeadlineError'
}

/** A turn of the event loop that took longer than this share of the deadline is a stall. */
const STALL = 1 / 2
/** So much of the deadline a stall counts, however long it was. */
const STALLED = 1 / 10

/**
 * Bounds how long calls may take, whatever the client that makes them promises. One timer serves
 * all calls. It measures by the monotonic clock, and what this process itself has delayed is not
 * held against the store: replies that have arrived are read before anything is given up, and of
 * the time for which the event loop stood still, calls are counted a tenth of the deadline at most.
 * So after ten stalls nobody waits any more.
 */
export class Deadline {
  private readonly ms: number
  private readonly calls = new CallQueue()
  private timer: NodeJS.Timeout | undefined
  /** What counts of the time until the last tick, ms. */
  private counted = 0
  private tickedAt = 0

  /** @param ms 1 … 60,000 */
  constructor(ms: number) {
    this.ms = ms
  }

  /** @param giveUp called with a `DeadlineError` once the time has passed */
  start(giveUp: (error: Error) => void): PendingCall {
    const now = performance.now()
    if (this.timer === undefined) this.tickedAt = now
    const sinceTick = Math.min(now - this.tickedAt, this.ms * STALL)
    const dueAt = this.counted + sinceTick + this.ms
    const call: PendingCall = { dueAt, giveUp, before: undefined, after: undefined }
    this.calls.add(call)
    if (this.timer === undefined) this.arm()
    else this.timer.ref()
    return call
  }

  /** Ends the call; false if it was over already: then somebody else has decided. */
  end(call: PendingCall): boolean {
    const ended = this.calls.delete(call)
    // The process lives while a request waits, and no longer.
    if (this.calls.isEmpty) this.timer?.unref()
    return ended
  }

  private arm(): void {
    const [next] = this.calls
    this.timer = undefined
    if (next === undefined) return
    const waitMs = Math.min(next.dueAt - this.counted, this.ms * STALLED)
    this.timer = setTimeout(() => this.tick(), Math.max(1, Math.ceil(waitMs)))
  }

  private tick(): void {
    const now = performance.now()
    const passed = now - this.tickedAt
    this.counted += passed > this.ms * STALL ? this.ms * STALLED : passed
    this.tickedAt = now
    const { counted } = this
    // Timers run before sockets are read: what has arrived meanwhile is read first.
    setImmediate(() => this.expire(counted))
    this.arm()
  }

  private expire(counted: number): void {
    let error: DeadlineError | undefined
    for (const call of this.calls) {
      if (call.dueAt > counted) return
      this.calls.delete(call)
      error ??= new DeadlineError(`no answer within ${this.ms} ms`)
      call.giveUp(error)
    }
  }
}
