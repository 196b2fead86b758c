/** A call whose answer is awaited. */
export interface PendingCall {
  /** ms, as the deadline counts them, which sets it. */
  dueAt: number
  /** Called with a `DeadlineError` once the time has passed. */
  giveUp(error: Error): void
  /** The queue's own: its neighbours in the queue; undefined outside of it. */
  before: PendingCall | undefined
  after: PendingCall | undefined
}

export function pendingCall(giveUp: (error: Error) => void): PendingCall {
  return { dueAt: 0, giveUp, before: undefined, after: undefined }
}

/**
 * Calls in the order in which they are due. A linked list, since most of them leave from its
 * middle: a `Set` makes a new table every few dozen calls, and each old table that is not collected yet
 * keeps the next one alive, and with it the calls in it.
 */
export class CallQueue {
  /** Before the first and after the last. */
  private readonly end: PendingCall

  constructor() {
    const end = pendingCall(() => {})
    this.end = link(end, end)
  }

  get isEmpty(): boolean {
    return this.end.after === this.end
  }

  /** From the first on; the call returned last may be removed meanwhile. */
  *[Symbol.iterator](): Generator<PendingCall, void> {
    for (let call = this.end.after as PendingCall; call !== this.end; ) {
      const { after } = call
      yield call
      call = after as PendingCall
    }
  }

  /** Adds a call that is not in the queue, as the last. */
  add(call: PendingCall): void {
    link(this.end.before as PendingCall, call)
    link(call, this.end)
  }

  /** Takes a call out; false if it was not in the queue. */
  delete(call: PendingCall): boolean {
    const { before, after } = call
    if (before === undefined || after === undefined) return false
    link(before, after)
    call.before = undefined
    call.after = undefined
    return true
  }
}

/** Puts `call` right behind `before`; returns it. */
function link(before: PendingCall, call: PendingCall): PendingCall {
  before.after = call
  call.before = before
  return call
}
