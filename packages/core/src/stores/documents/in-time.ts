import { SluiceError } from '../../errors/sluice-error.ts'
import { StoreError } from '../../errors/store-error.ts'
import type { MaybePromise } from '../../maybe-promise.ts'
import { Deadline, PendingCall } from '../calls/deadline.ts'

/** The longest that reading or changing a document may take, ms. */
const answers = new Deadline(5000)

/** The words of an error about work that the store did not do. */
export interface Unconfirmed {
  /** The call that they name. */
  readonly operation: string
  readonly problem: string
  readonly advice: string
}

/**
 * Returns the result of the work, if the store answers in time.
 *
 * @throws StoreError if it does not, or fails; errors that say how to fix them stay as they are
 */
export async function inTime<T>(work: () => MaybePromise<T>, said: Unconfirmed): Promise<T> {
  try {
    return await within(work())
  } catch (error) {
    if (error instanceof SluiceError || error instanceof StoreError) throw error
    throw new StoreError({ code: 'SLUICE_STORE_UNAVAILABLE', ...said, cause: error })
  }
}

function within<T>(work: MaybePromise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const awaited = new PendingCall()
    awaited.giveUp = reject
    answers.start(awaited)
    Promise.resolve(work)
      .then(resolve, reject)
      .finally(() => answers.end(awaited))
  })
}
