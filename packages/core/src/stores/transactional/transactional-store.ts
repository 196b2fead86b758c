import { readInspectOptions, type Wanted } from '../inspection/inspect-options.ts'
import { KeptTerms } from '../inspection/kept-terms.ts'
import type { InspectableStore, Store, StoreEntry } from '../store.ts'
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
  const terms = new KeptTerms((kept, ttlMs) => {
    const changes = kept.map(({ key, text }) => {
      return { key, state: new TextEncoder().encode(text), ttlMs }
    })
    const keys = changes.map(({ key }) => key).sort()
    return backend.transact(keys, () => ({ changes, value: undefined }))
  })
  const store: Store<'async'> = {
    mode: 'async',
    clock: backend.clock,
    documents: transactionalDocuments(backend),
    open: (keyspaces, prefix, deadlineMs) =>
      new TransactionalLedger(backend, keyspaces, prefix, deadlineMs, terms),
    close: () => backend.close?.(),
  }
  if (backend.list === undefined) return store
  async function* entries(wanted: Wanted): AsyncGenerator<StoreEntry, void, undefined> {
    const { inspectBackend } = await import('./transactional-inspection.ts')
    yield* inspectBackend(backend as ListingBackend, wanted, terms)
  }
  return { ...store, inspect: (options) => entries(readInspectOptions(options)) }
}
