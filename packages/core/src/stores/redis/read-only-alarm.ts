import { textOf } from '../../errors/thrown.ts'
import { warnOnce } from '../../errors/warning.ts'
import { isPromise } from '../../maybe-promise.ts'

const QUIET_MS = 1000

/** Calls the owner of a client at most once a second. Nothing that the owner throws escapes. */
export function readOnlyAlarm(onReadOnly: () => unknown): () => void {
  let quietUntil = -Infinity
  return () => {
    const now = performance.now()
    if (now < quietUntil) return
    quietUntil = now + QUIET_MS
    try {
      const done = onReadOnly()
      if (isPromise(done)) void Promise.resolve(done).catch(tellOfAlarm)
    } catch (error) {
      tellOfAlarm(error)
    }
  }
}

function tellOfAlarm(error: unknown): void {
  warnOnce(
    'SLUICE_ON_READ_ONLY',
    `onReadOnly threw ${textOf(error)}. The limiter keeps working. Fix the callback.`,
  )
}
