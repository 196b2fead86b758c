export * from '@sluice/core/store'
export { Borrower, type ConnectionPool } from './borrower.ts'
export {
  type CompareAndSwapBackend,
  compareAndSwapStore,
  type Versioned,
} from './compare-and-swap-store.ts'
export { ContendedKeys } from './contended-keys.ts'
export { type DurableObjectStorage, durableObjectStore } from './durable-object-store.ts'
export { joinTransactions } from './join-transactions.ts'
export { expiryOf, Sweeper } from './sweeper.ts'
export { TransactCall } from './transact-call.ts'
export type {
  Decide,
  KeyRange,
  ListedKey,
  ListingBackend,
  StateChange,
  Transaction,
  TransactionalBackend,
} from './transactional-backend.ts'
export { transactionalStore } from './transactional-store.ts'
