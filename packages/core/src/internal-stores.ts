// What the project's stores in databases use of core. It is no contract: it changes with any release.

export { afterAsking, unref } from '#platform'
export { numbersIn } from './algorithms/held/claim.ts'
export { type Held, HeldArray } from './algorithms/held/held.ts'
export { shardLength } from './key/notation.ts'
export { checkFunction } from './options/checks.ts'
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
  entryKindOf,
  numberReader,
  ofKind,
  putHeld,
  takeHeld,
} from './stores/rules/entry-bytes.ts'
export { NumberReader, NumberWriter } from './stores/rules/numbers.ts'
export { endOf } from './stores/rules/own-terms.ts'
