import { afterTurn, ref, timersEndWithRequest, unref } from '#platform'
import { madeOnce } from '../../made-once.ts'
import type { Timer } from '../../platform/platform.ts'

/** The rejection of a call that was not answered in time. */
export class DeadlineError extends Error {
  override readonly name = 'DeadlineError'
}

/** A turn of the event loop that took longer than this share of the deadline is a stall. */
const STALL = 1 / 5
/** The share of the deadline that a stall counts, however long it was. */
const STALLED = 1 / 10

/**
 * A call whose answer is awaited, in a list of those of a deadline: most calls leave it from its middle.
 * A `Set` would make a new table every few dozen calls, and each old table that is not collected yet
 * keeps the next one alive, and with it the calls in it.
 */
export class PendingCall {
  /** ms, as the deadline counts them, which sets it. */
  dueAt = 0
  /** The deadline's own: its neighbours in the list; itself outside of it. */
  before: PendingCall = this
  after: PendingCall = this

  /** Whether its answer is awaited. */
  get isPending(): boolean {
    return this.after !== this
  }

  /** Called with a `DeadlineError` once the time has passed. */
  giveUp(_error: Error): void {}
}

/**
 * Bounds how long calls may take, whatever the timeouts of their client. One timer serves all
 * calls. It measures with the monotonic clock, and delays of this process do not count against the
 * store: replies that have arrived are read before a call is given up, and a stall of the event
 * loop counts a tenth of the deadline at most. So a call ends after ten stalls at the latest.
 */
export class Deadline {
  readonly #ms: number
  readonly #keepsAlive: boolean
  /** The end of the list, before its first and after its last call: they are in the order in which they are due. */
  readonly #calls = new PendingCall()
  #timer: Timer | undefined
  /** The time until the last tick, without the excess of stalls, ms. */
  #counted = 0
  #tickedAt = 0

  /**
   * @param ms 1 … 120,000
   * @param keepsAlive whether the process stays alive while a call waits
   */
  constructor(ms: number, keepsAlive = true) {
    this.#ms = ms
    this.#keepsAlive = keepsAlive
  }

  /** Awaits a call that is not awaited yet. */
  start(call: PendingCall): void {
    if (this.#timer === undefined) this.#tickedAt = performance.now()
    call.dueAt = this.#counted + this.#sinceTick() + this.#ms
    const calls = this.#calls
    call.before = calls.before
    call.after = calls
    calls.before.after = call
    calls.before = call
    if (this.#timer === undefined) this.#arm()
    else if (this.#keepsAlive) ref(this.#timer)
  }

  /** Ends the call; false if it was over already: then the request is decided. */
  end(call: PendingCall): boolean {
    if (call.after === call) return false
    call.before.after = call.after
    call.after.before = call.before
    call.before = call
    call.after = call
    // The process stays alive while a request waits, and no longer.
    const timer = this.#timer
    if (this.#calls.after !== this.#calls || timer === undefined) return true
    unref(timer)
    if (timersEndWithRequest) {
      clearTimeout(timer)
      this.#timer = undefined
    }
    return true
  }

  #arm(): void {
    this.#timer = undefined
    if (!this.#calls.isPending) return
    const waitMs = Math.min(this.#calls.after.dueAt - this.#counted, this.#ms * STALLED)
    this.#timer = setTimeout(() => this.#tick(), Math.max(1, Math.ceil(waitMs)))
    if (!this.#keepsAlive) unref(this.#timer)
  }

  #tick(): void {
    this.#counted += this.#sinceTick()
    this.#tickedAt = performance.now()
    const counted = this.#counted
    // Timers run before sockets are read: read first what has arrived meanwhile.
    afterTurn(() => this.#expire(counted))
    this.#arm()
  }

  /** The time since the last tick, without the excess of a stall, ms. */
  #sinceTick(): number {
    const ms = performance.now() - this.#tickedAt
    return ms > this.#ms * STALL ? this.#ms * STALLED : ms
  }

  #expire(counted: number): void {
    const due: PendingCall[] = []
    // All end before the first is given up: what takes its turn must not be one of them.
    for (let call = this.#calls.after; call !== this.#calls && call.dueAt <= counted; ) {
      due.push(call)
      this.end(call)
      call = this.#calls.after
    }
    if (due.length === 0) return
    const error = new DeadlineError(`no answer within ${this.#ms} ms`)
    for (const call of due) call.giveUp(error)
  }
}

/**
 * Deadlines by their length, of work on connections: calls of one length share a timer. It does not keep
 * the process alive, as a connection in use does: a pool that ends may leave calls unanswered.
 */
export class Deadlines {
  readonly #byMs = new Map<number, Deadline>()

  /** @param ms 1 … 120,000 */
  of(ms: number): Deadline {
    return madeOnce(this.#byMs, ms, () => new Deadline(ms, false))
  }
}
