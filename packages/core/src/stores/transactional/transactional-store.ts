import { readInspectOptions } from '../inspection/inspect-options.ts'
import type { InspectableStore, Store } from '../store.ts'
import type { ListingBackend, TransactionalBackend } from './transactional-backend.ts'
import { TransactionalInspection } from './transactional-inspection.ts'
import { TransactionalLedger } from './transactional-ledger.ts'

/**
 * A complete store on a backend that has transactions: all algorithms, policies decided together,
 * requests of one turn of the event loop in one transaction. It has `inspect` if the backend has `list`.
 */
export function transactionalStore(backend: ListingBackend): InspectableStore<'async'>
export function transactionalStore(backend: TransactionalBackend): Store<'async'>
export function transactionalStore(
  backend: TransactionalBackend & Partial<ListingBackend>,
): Store<'async'> {
  const store: Store<'async'> = {
    mode: 'async',
    clock: backend.clock,
    open: (keyspaces, prefix, deadlineMs) =>
      new TransactionalLedger(backend, keyspaces, prefix, deadlineMs),
    close: () => backend.close?.(),
  }
  if (backend.list === undefined) return store
  return {
    ...store,
    inspect: (options) =>
      new TransactionalInspection(backend as ListingBackend, readInspectOptions(options)).entries(),
  }
}
