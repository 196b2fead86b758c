import { PendingCall } from '@sluice/core/store'
import type { TransactionalBackend } from './transactional-backend.ts'

type Transact = TransactionalBackend['transact']

/** A call of `transact` that waits, or whose transaction is in progress. */
export class TransactCall extends PendingCall {
  readonly keys: readonly string[]
  readonly decide: Parameters<Transact>[1]
  readonly withinMs: number
  readonly resolve: (value: never) => void
  readonly reject: (error: unknown) => void
  /** Whether it was answered or given up. */
  isOver = false

  constructor(
    [keys, decide, withinMs = Infinity]: Parameters<Transact>,
    resolve: TransactCall['resolve'],
    reject: TransactCall['reject'],
  ) {
    super()
    this.keys = keys
    this.decide = decide
    this.withinMs = withinMs
    this.resolve = resolve
    this.reject = reject
  }

  override giveUp(error: Error): void {
    this.isOver = true
    this.reject(error)
  }
}
