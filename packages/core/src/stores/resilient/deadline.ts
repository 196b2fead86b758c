import { afterTurn, ref, unref } from '#platform'
import type { Timer } from '../../platform/platform.ts'
import { CallQueue, type PendingCall } from './call-queue.ts'

/** The rejection of a call that was not answered in time. */
export class DeadlineError extends Error {
  override readonly name = 'DeadlineError'
}

/** A turn of the event loop that took longer than this share of the deadline is a stall. */
const STALL = 1 / 2
/** The share of the deadline that a stall counts, however long it was. */
const STALLED = 1 / 10

/**
 * Bounds how long calls may take, whatever the timeouts of their client. One timer serves all
 * calls. It measures with the monotonic clock, and delays of this process do not count against the
 * store: replies that have arrived are read before a call is given up, and a stall of the event
 * loop counts a tenth of the deadline at most. So a call ends after ten stalls at the latest.
 */
export class Deadline {
  private readonly ms: number
  private readonly calls = new CallQueue()
  private timer: Timer | undefined
  /** The time until the last tick, without the excess of stalls, ms. */
  private counted = 0
  private tickedAt = 0

  /** @param ms 1 … 60,000 */
  constructor(ms: number) {
    this.ms = ms
  }

  start(call: PendingCall): void {
    const now = performance.now()
    if (this.timer === undefined) this.tickedAt = now
    const sinceTick = Math.min(now - this.tickedAt, this.ms * STALL)
    call.dueAt = this.counted + sinceTick + this.ms
    this.calls.add(call)
    if (this.timer === undefined) this.arm()
    else ref(this.timer)
  }

  /** Ends the call; false if it was over already: then the request is decided. */
  end(call: PendingCall): boolean {
    const ended = this.calls.delete(call)
    // The process stays alive while a request waits, and no longer.
    if (this.calls.isEmpty && this.timer !== undefined) unref(this.timer)
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
    // Timers run before sockets are read: read first what has arrived meanwhile.
    afterTurn(() => this.expire(counted))
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
