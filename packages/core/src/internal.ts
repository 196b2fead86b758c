// What the other packages of the project use of core. It is no contract: it changes with any release.
// No export is named `then`: import() would take the module for a promise.

export {
  afterAsking,
  afterTurn,
  beforeHead,
  byteLength,
  encode,
  heapShare,
  hmac,
  inBackground,
  loopTimes,
  methods,
  unref,
} from '#platform'
export { mostSettled } from './algorithms/algorithm.ts'
export type { Anchor } from './algorithms/calendar-window/anchor.ts'
export { endedUnits, ending, ownedBy } from './algorithms/held/claim.ts'
export { SLOT_WAIT_MS } from './algorithms/held/held.ts'
export { conflict } from './errors/conflict.ts'
export { isA } from './errors/is-a.ts'
export { textOf } from './errors/thrown.ts'
export { warnOnce } from './errors/warning.ts'
export { consumeTraces, overloadEvents } from './events.ts'
export { parseAddress } from './key/address.ts'
export { AddressRanges } from './key/address-ranges.ts'
export { isAddressLike, parseCidr } from './key/cidr.ts'
export { numberOf } from './key/digest.ts'
export { fractionOf } from './key/fraction.ts'
export { isIPv4 } from './key/ip.ts'
export {
  isIPv6Text,
  type KeyKind,
  keyKindOf,
  readKey,
  shardedKey,
  shardLength,
  textKey,
  UNKNOWN,
  userKey,
} from './key/notation.ts'
export { checkCost, checkKey } from './limiter/arguments.ts'
export type { BanKeyspace, BannedQuota } from './limiter/ban.ts'
export { type Charged, ChargeLimiter } from './limiter/charge-limiter.ts'
export {
  CONCURRENCY_OPTIONS,
  WINDOW_OPTIONS,
} from './limiter/concurrency-options.ts'
export {
  asRefusal,
  blockedDecision,
  certainWaitMs,
  decisionWithoutPolicy,
  refusingPolicy,
  toDecision,
} from './limiter/decision.ts'
export { limitOfClient } from './limiter/enforcement.ts'
export { type HeldSlot, nextSlot } from './limiter/held-slots.ts'
export type { ChargeListener } from './limiter/limiter-events.ts'
export { callOnDecision } from './limiter/limiter-events.ts'
export type { StoreOptions } from './limiter/options.generated.ts'
export { compilePolicies } from './limiter/policies.ts'
export { Policy } from './limiter/policy.ts'
export type { Counted, PolicyLedgers } from './limiter/policy-ledgers.ts'
export { limiterOn } from './limiter/remote-limiter.ts'
export { settleUntilConfirmed } from './limiter/settle-until-confirmed.ts'
export { type ClientKeys, StoreLimiter } from './limiter/store-limiter.ts'
export { ClientLine } from './limiter/waiting/client-line.ts'
export { Places } from './limiter/waiting/places.ts'
export { Waiting } from './limiter/waiting/waiting.ts'
export { andThen, isPromise, thenNative } from './maybe-promise.ts'
export {
  checkArray,
  checkFunction,
  checkInteger,
  checkObject,
  checkOneOf,
  checkShare,
} from './options/checks.ts'
export { parseDuration } from './options/duration.ts'
export { checkKnown } from './options/known.ts'
export { OPTION_NAMES } from './options/option-names.ts'
export { optionHere } from './options/peer-names.ts'
export { readAdapterOption, readOptions } from './options/read.ts'
export { OPTIONS } from './options/table.ts'
export type { Timer } from './platform/platform.ts'
export { MAIN, registrationScope, routeScope, type Scope } from './stores/inspection/scope.ts'
export type { NetworkBlocks } from './stores/networks/network-blocks.ts'
export { madeOf, undone } from './stores/rules/slots.ts'
export { usedOf } from './stores/rules/used.ts'
export { isTooMuch, workOf } from './stores/rules/work.ts'
