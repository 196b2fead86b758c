export { Cell, type Outcome, type Quota } from './algorithms/algorithm.ts'
export type { Log } from './algorithms/sliding-log/log.ts'
export { commitOne, decideAll, decideOne, settleOne } from './stores/rules/decide-all.ts'
export { decodeState, encodeState } from './stores/rules/state-bytes.ts'
export type {
  Answer,
  Charge,
  Ledger,
  Mode,
  Origin,
  Ruling,
  Source,
  Space,
  Store,
} from './stores/store.ts'
export {
  type CompareAndSwapBackend,
  compareAndSwapStore,
  type Versioned,
} from './stores/transactional/compare-and-swap-store.ts'
export {
  type Change,
  type Transaction,
  type TransactionalBackend,
  transactionalStore,
} from './stores/transactional/transactional-store.ts'
