import { afterTurn, ref, unref } from '#platform'
import type { Timer } from '../../platform/platform.ts'

/** The rejection of a call that was not answered in time. */
export class DeadlineError extends Error {
  override readonly name = 'DeadlineError'
}

/** A turn of the event loop that took longer than this share of the deadline is a stall. */
const STALL = 1 / 2
/** The share of the deadline that a stall counts, however long it was. */
const STALLED = 1 / 10

/**
 * A call whose answer is awaited, in a list of those of a deadline: most calls leave it from its middle.
 * A `Set` would make a new table every few dozen calls, and each old table that is not collected yet
 * keeps the next one alive, and with it the calls in it.
 */
export abstract class PendingCall {
  /** ms, as the deadline counts them, which sets it. */
  dueAt = 0
  /** The deadline's own: its neighbours in the list; undefined outside of it. */
  before: PendingCall | undefined = undefined
  after: PendingCall | undefined = undefined

  /** Whether its answer is awaited. */
  get isPending(): boolean {
    return this.after !== undefined
  }

  /** Called with a `DeadlineError` once the time has passed. */
  abstract giveUp(error: Error): void
}

/** The end of a list, before its first and after its last call. */
class End extends PendingCall {
  override before: PendingCall = this
  override after: PendingCall = this

  giveUp(): void {}
}

/**
 * Bounds how long calls may take, whatever the timeouts of their client. One timer serves all
 * calls. It measures with the monotonic clock, and delays of this process do not count against the
 * store: replies that have arrived are read before a call is given up, and a stall of the event
 * loop counts a tenth of the deadline at most. So a call ends after ten stalls at the latest.
 */
export class Deadline {
  private readonly ms: number
  /** The calls in the order in which they are due. */
  private readonly calls = new End()
  private timer: Timer | undefined
  /** The time until the last tick, without the excess of stalls, ms. */
  private counted = 0
  private tickedAt = 0

  /** @param ms 1 … 60,000 */
  constructor(ms: number) {
    this.ms = ms
  }

  /** Awaits a call that is not awaited yet. */
  start(call: PendingCall): void {
    const now = performance.now()
    if (this.timer === undefined) this.tickedAt = now
    const sinceTick = Math.min(now - this.tickedAt, this.ms * STALL)
    call.dueAt = this.counted + sinceTick + this.ms
    const { calls } = this
    call.before = calls.before
    call.after = calls
    calls.before.after = call
    calls.before = call
    if (this.timer === undefined) this.arm()
    else ref(this.timer)
  }

  /** Ends the call; false if it was over already: then the request is decided. */
  end(call: PendingCall): boolean {
    const { before, after } = call
    if (before === undefined || after === undefined) return false
    before.after = after
    after.before = before
    call.before = undefined
    call.after = undefined
    // The process stays alive while a request waits, and no longer.
    if (this.calls.after === this.calls && this.timer !== undefined) unref(this.timer)
    return true
  }

  private arm(): void {
    const next = this.calls.after
    this.timer = undefined
    if (next === this.calls) return
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
    const due: PendingCall[] = []
    // All end before the first is given up: what takes its turn must not be one of them.
    for (let call = this.calls.after; call !== this.calls && call.dueAt <= counted; ) {
      due.push(call)
      this.end(call)
      call = this.calls.after
    }
    if (due.length === 0) return
    const error = new DeadlineError(`no answer within ${this.ms} ms`)
    for (const call of due) call.giveUp(error)
  }
}
