export { textOf } from './errors/thrown.ts'
export { warnOnce } from './errors/warning.ts'
export { fetchExchange } from './http/fetch/fetch-exchange.ts'
export { FetchReply } from './http/fetch/fetch-reply.ts'
export { PROFILE_FIELDS } from './http/fields/profiles/index.ts'
export { HttpLimiter } from './http/http-limiter.ts'
export { MiddlewareLimiter } from './http/middleware-limiter.ts'
export { nodeExchange } from './http/node/node-exchange.ts'
export { noteEnd } from './http/node/when-ended.ts'
export { notOfFramework } from './http/not-of-framework.ts'
export type {
  Exchange,
  ProxyTrust,
  RequestAdapter,
  RoutePattern,
  Routing,
} from './http/request-adapter.ts'
export { limiterOfRoute, RoutedLimiter } from './http/routed-limiter.ts'
export type { Verdict } from './http/verdict.ts'
export {
  createVaryingLimiter,
  type VaryingLimiterOptions,
  type VaryingPolicy,
} from './limiter/create-varying-limiter.ts'
export { readAdapterOption } from './options/read.ts'
