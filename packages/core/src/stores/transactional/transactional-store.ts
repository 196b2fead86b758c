import { Inspection } from '../inspection/inspection.ts'
import { KeptTerms } from '../inspection/kept-terms.ts'
import type { InspectableStore, Store } from '../store.ts'
import type { ListingBackend, TransactionalBackend } from './transactional-backend.ts'
import { inspectBackend } from './transactional-inspection.ts'
import { TransactionalLedger } from './transactional-ledger.ts'
import { transactionalNetworks } from './transactional-networks.ts'

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
    networks: transactionalNetworks(backend),
    open: (keyspaces, prefix, deadlineMs) =>
      new TransactionalLedger(backend, keyspaces, prefix, deadlineMs, terms),
    close: () => backend.close?.(),
  }
  if (backend.list === undefined) return store
  return {
    ...store,
    inspect: (options) => inspectBackend(backend as ListingBackend, new Inspection(options), terms),
  }
}
