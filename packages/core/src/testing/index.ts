export { type FailingStore, failingStore } from './failing-store.ts'
export { type ManualClock, manualClock } from './manual-clock.ts'
export { reset } from './reset.ts'
