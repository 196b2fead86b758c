export { Cell, type Outcome, type Quota } from './algorithms/algorithm.ts'
export type { Log } from './algorithms/sliding-log/log.ts'
export { commitOne, decideAll, decideOne, settleOne } from './stores/rules/decide-all.ts'
export type {
  Answer,
  Charge,
  Ledger,
  Mode,
  Ruling,
  Source,
  Space,
  Store,
} from './stores/store.ts'
