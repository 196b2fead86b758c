import type { Store } from '../store.ts'
import type { TransactionalBackend } from './transactional-backend.ts'
import { TransactionalLedger } from './transactional-ledger.ts'

/**
 * A complete store on a backend that has transactions: all algorithms, policies decided together,
 * requests of one turn of the event loop in one transaction.
 */
export function transactionalStore(backend: TransactionalBackend): Store<'async'> {
  return {
    mode: 'async',
    clock: backend.clock,
    open: (keyspaces, prefix, deadlineMs) =>
      new TransactionalLedger(backend, keyspaces, prefix, deadlineMs),
    close: () => backend.close?.(),
  }
}
