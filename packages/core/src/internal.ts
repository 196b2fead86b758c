// What the other packages of the project use of core. It is no contract: it changes with any release.

export { afterAsking, unref } from '#platform'
export { endedUnits, numbersIn } from './algorithms/held/claim.ts'
export { type Held, HeldArray } from './algorithms/held/held.ts'
export { conflict } from './errors/conflict.ts'
export { textOf } from './errors/thrown.ts'
export { warnOnce } from './errors/warning.ts'
export { shardLength } from './key/notation.ts'
export type { ChargeListener } from './limiter/limiter-events.ts'
export { checkFunction, checkInteger, checkObject } from './options/checks.ts'
export { checkKnown } from './options/known.ts'
export type { Timer } from './platform/platform.ts'
export { documentKey, versionOf } from './stores/documents/document.ts'
export { readInspectOptions, type Wanted } from './stores/inspection/inspect-options.ts'
export { entryOf } from './stores/inspection/inspected-keyspace.ts'
export { Inspection, partsOf, statesOf } from './stores/inspection/inspection.ts'
export { KeptKeyspaces, type LedgerKeyspaces, SHARDED } from './stores/inspection/kept-keyspaces.ts'
export type { KeptKeyspace } from './stores/inspection/keyspace-text.ts'
export { Pace } from './stores/inspection/pace.ts'
export { subject } from './stores/redis/keys.ts'
export { listed } from './stores/rules/change.ts'
export {
  decodeEntries,
  doubles,
  type Entries,
  encodeEntries,
  kindOf,
  numberReader,
  ofKind,
  putHeld,
  takeHeld,
} from './stores/rules/entry-bytes.ts'
export { NumberReader, NumberWriter } from './stores/rules/numbers.ts'
export { endOf } from './stores/rules/own-terms.ts'
