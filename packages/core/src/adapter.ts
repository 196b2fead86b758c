export { ending, ownedBy } from './algorithms/held/claim.ts'
export { SLOT_WAIT_MS } from './algorithms/held/held.ts'
export { textOf } from './errors/thrown.ts'
export { warnOnce } from './errors/warning.ts'
export { checkLimitOptions } from './http/check-limit-options.ts'
export { fetchExchange } from './http/fetch/fetch-exchange.ts'
export { FetchReply } from './http/fetch/fetch-reply.ts'
export { PROFILE_FIELDS } from './http/fields/profiles/index.ts'
export { HttpLimiter } from './http/http-limiter.ts'
export { nodeExchange } from './http/node/node-exchange.ts'
export { pauseBody } from './http/node/pause-body.ts'
export { expressTrust, fastifyTrust } from './http/node/proxy-settings.ts'
export { beginsSoon } from './http/node/send-result.ts'
export { isClosed, whenClosed } from './http/node/when-closed.ts'
export { noteEnd } from './http/node/when-ended.ts'
export { notOfFramework } from './http/not-of-framework.ts'
export { PROBLEM_MEDIA_TYPE } from './http/refusal/refusal.ts'
export { isResponse, readResponse, sendableOf } from './http/refusal/result.ts'
export type {
  Exchange,
  ProxyTrust,
  RequestAdapter,
  RoutePattern,
  Routing,
} from './http/request-adapter.ts'
export type { Verdict } from './http/respond.ts'
export { RoutedLimiter } from './http/routed-limiter.ts'
export { numberOf } from './key/digest.ts'
export { shardedKey } from './key/notation.ts'
export { checkKey } from './limiter/arguments.ts'
export { ChargeLimiter } from './limiter/charge-limiter.ts'
export { blockedDecision } from './limiter/decision.ts'
export { nextSlot } from './limiter/held-slots.ts'
export { openLimiter } from './limiter/open-limiter.ts'
export type { StoreOptions } from './limiter/options.generated.ts'
export { compilePolicies } from './limiter/policies.ts'
export { Policy } from './limiter/policy.ts'
export { settleUntilConfirmed } from './limiter/settle-until-confirmed.ts'
export { StoreLimiter } from './limiter/store-limiter.ts'
export { Waiting } from './limiter/waiting/waiting.ts'
export {
  checkArray,
  checkFunction,
  checkInteger,
  checkObject,
  checkOneOf,
} from './options/checks.ts'
export { parseDuration } from './options/duration.ts'
export { checkKnown } from './options/known.ts'
export { optionHere } from './options/peer-names.ts'
export { readAdapterOption } from './options/read.ts'
export { registrationScope } from './stores/inspection/scope.ts'
export { undone } from './stores/rules/slots.ts'
export { usedOf } from './stores/rules/used.ts'
