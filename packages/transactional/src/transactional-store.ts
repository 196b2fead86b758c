import type { InspectableStore, Store, StoreEntry } from '@sluice/core'
import {
  checkFunction,
  KeptKeyspaces,
  readInspectOptions,
  type Wanted,
} from '@sluice/core/internal-stores'
import { StateTransactions } from './state-transactions.ts'
import type { ListingBackend, TransactionalBackend } from './transactional-backend.ts'
import { transactionalDocuments } from './transactional-documents.ts'
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
  checkFunction('transact', backend.transact, 'of the backend')
  const documents = transactionalDocuments(backend)
  const kept = new KeptKeyspaces(documents)
  const transactions = new StateTransactions(backend)
  const store: Store<'async'> = {
    mode: 'async',
    clock: backend.clock,
    documents,
    open: (keyspaces, prefix, deadlineMs) =>
      new TransactionalLedger(transactions, keyspaces, prefix, deadlineMs, backend.list && kept),
    close: () => backend.close?.(),
  }
  if (backend.list === undefined) return store
  async function* entries(wanted: Wanted): AsyncGenerator<StoreEntry, void, undefined> {
    const { inspectBackend } = await import('./transactional-inspection.ts')
    yield* inspectBackend(backend as ListingBackend, wanted, kept)
  }
  return { ...store, inspect: (options) => entries(readInspectOptions(options)) }
}
