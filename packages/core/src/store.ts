export {
  type Algorithm,
  type AlgorithmParams,
  type Claim,
  type CompiledLimit,
  type Correction,
  type Grant,
  KeyState,
  type Outcome,
  type Override,
  type OwnTerms,
} from './algorithms/algorithm.ts'
export {
  CALENDAR_MS,
  CALENDAR_UNITS,
  type CalendarUnit,
} from './algorithms/calendar-window/calendar.ts'
export type { LuaEntries, LuaStep } from './algorithms/lua-step.ts'
export type { Log } from './algorithms/sliding-log/log.ts'
export { setupError } from './errors/setup-error.ts'
export { type BanOptions, compileBan } from './limiter/ban.ts'
export type { PolicyOptions } from './limiter/options.generated.ts'
export { Policy } from './limiter/policy.ts'
export { parseDuration } from './options/duration.ts'
export { readStoreOptions } from './options/read.ts'
export { Deadlines, PendingCall } from './stores/calls/deadline.ts'
export { ownKeyspace } from './stores/inspection/keyspace-name.ts'
export type {
  DynamodbStoreOptions,
  MysqlStoreOptions,
  PostgresStoreOptions,
  SqliteStoreOptions,
} from './stores/options.generated.ts'
export {
  applyChange,
  type ChangedKey,
  type ChangedStates,
  keysOf,
} from './stores/rules/change.ts'
export {
  commitOne,
  decideAll,
  decideOne,
  isOnRefusal,
  keepMsOf,
  withRefusals,
} from './stores/rules/decide-all.ts'
export { decodeOwn, encodeOwn } from './stores/rules/own-bytes.ts'
export { decodeState, encodeState } from './stores/rules/state-bytes.ts'
export type {
  Answer,
  BlockChange,
  Change,
  Charge,
  ChargeIncrease,
  DecisionSource,
  Documents,
  GivenGrant,
  GrantChange,
  GrantResult,
  InspectableStore,
  InspectOptions,
  InspectProgress,
  Keyspace,
  Ledger,
  Origin,
  OverrideChange,
  RenewChange,
  ResetChange,
  SettleChange,
  Store,
  StoreEntry,
  StoreMode,
  StoreResult,
} from './stores/store.ts'
