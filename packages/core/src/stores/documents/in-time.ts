import type { MaybePromise } from '../../maybe-promise.ts'
import { Deadline, PendingCall } from '../calls/deadline.ts'

/** The longest that a change of a document may take, ms. */
const changes = new Deadline(5000)

/** A change that somebody waits for. */
class AwaitedChange extends PendingCall {
  private readonly reject: (error: Error) => void

  constructor(reject: (error: Error) => void) {
    super()
    this.reject = reject
  }

  override giveUp(error: Error): void {
    this.reject(error)
  }
}

/** Rejects if the work takes too long. */
export function inTime(work: MaybePromise<void>): Promise<void> {
  return new Promise((resolve, reject) => {
    const awaited = new AwaitedChange(reject)
    changes.start(awaited)
    Promise.resolve(work)
      .then(resolve, reject)
      .finally(() => changes.end(awaited))
  })
}
