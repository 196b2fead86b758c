import { Deadlines } from '@sluice/core/store'
import { AwaitedCall, LastCalls } from './last-calls.ts'
import type { TransactionalBackend } from './transactional-backend.ts'

type Transact = TransactionalBackend['transact']

/**
 * Makes transactions that share a key happen in the order in which they were called, for a backend that
 * would let them overtake each other. One that takes longer than it may is not waited for any more.
 */
export function inOrder(transact: Transact): Transact {
  const deadlines = new Deadlines()
  const last = new LastCalls()
  return async (keys, decide, withinMs) => {
    const own = new AwaitedCall()
    const earlier = last.add(own, keys)
    const deadline = withinMs === undefined ? undefined : deadlines.of(withinMs)
    deadline?.start(own)
    try {
      await Promise.all(earlier)
      if (own.failure !== undefined) throw own.failure
      return await transact(keys, decide, withinMs)
    } finally {
      deadline?.end(own)
      own.giveUp()
    }
  }
}
