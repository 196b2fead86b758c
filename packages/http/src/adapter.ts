export { warnAfterRoutes } from './after-routes.ts'
export { fetchExchange } from './fetch/fetch-exchange.ts'
export { FetchReply } from './fetch/fetch-reply.ts'
export { PROFILE_FIELDS } from './fields/profiles/index.ts'
export { nodeExchange } from './node/node-exchange.ts'
export { pauseBody } from './node/pause-body.ts'
export { expressTrust, fastifyTrust } from './node/proxy-settings.ts'
export { beginsSoon } from './node/send-result.ts'
export { isClosed, whenClosed } from './node/when-closed.ts'
export { noteEnd } from './node/when-ended.ts'
export { notOfFramework } from './not-of-framework.ts'
export { checkLimitOptions } from './options/check-limit-options.ts'
export { HttpLimiter } from './path/http-limiter.ts'
export type { Verdict } from './path/respond.ts'
export { loadDescription, RoutedLimiter } from './path/routed-limiter.ts'
export { PROBLEM_MEDIA_TYPE } from './refusal/refusal.ts'
export { isResponse, readResponse, sendableOf } from './refusal/result.ts'
export type {
  Exchange,
  ProxyTrust,
  RequestAdapter,
  RoutePattern,
  Routing,
} from './request-adapter.ts'
