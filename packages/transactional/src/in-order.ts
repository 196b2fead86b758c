import { Deadlines, PendingCall } from '@sluice/core/store'
import type { TransactionalBackend } from './transactional-backend.ts'

type Transact = TransactionalBackend['transact']

/** A transaction that others wait for. */
class Earlier extends PendingCall {
  /** Resolves when the transaction is over, or was given up. */
  readonly over: Promise<void>
  failure: Error | undefined
  #end: () => void = () => {}

  constructor() {
    super()
    this.over = new Promise((resolve) => {
      this.#end = resolve
    })
  }

  override giveUp(failure?: Error): void {
    this.failure = failure
    this.#end()
  }
}

/**
 * Makes transactions that share a key happen in the order in which they were called, for a backend that
 * would let them overtake each other. One that takes longer than it may is not waited for any more.
 */
export function inOrder(transact: Transact): Transact {
  const deadlines = new Deadlines()
  /** The last transaction of each key that is not over. */
  const last = new Map<string, Earlier>()
  return async (keys, decide, withinMs) => {
    const earlier = new Set(keys.flatMap((key) => last.get(key) ?? []))
    const own = new Earlier()
    for (const key of keys) last.set(key, own)
    const deadline = withinMs === undefined ? undefined : deadlines.of(withinMs)
    deadline?.start(own)
    const forget = () => {
      for (const key of keys) if (last.get(key) === own) last.delete(key)
    }
    void own.over.then(forget)
    try {
      for (const each of earlier) await each.over
      if (own.failure !== undefined) throw own.failure
      return await transact(keys, decide, withinMs)
    } finally {
      deadline?.end(own)
      own.giveUp()
    }
  }
}
