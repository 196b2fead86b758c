export { type FailingStore, failingStore } from './failing-store.ts'
export { type LedgerVerbs, withVerbs } from './ledger-verbs.ts'
export { type ManualClock, manualClock } from './manual-clock.ts'
export { reset } from './reset.ts'
