export * from '@sluice/core'
export type { FetchReply } from './fetch/fetch-reply.ts'
export type { HeaderProfile } from './fields/profiles/index.ts'
export { exposedHeaders } from './fields/profiles/index.ts'
export type { KeyOption, UserOption } from './keys/key-reader.ts'
export type { TrustProxyOption } from './keys/trust-proxy.ts'
export type { LimitMethods, MiddlewareMethods } from './methods.ts'
export type { OpenApiDocument } from './openapi/describe-limits.ts'
export type {
  RateLimitOptions,
  RequestPolicyOptions,
} from './options/options.generated.ts'
export type { RateLimitConfig, RouteOverrides, Routes } from './options/rate-limit-options.ts'
export { RateLimitError } from './refusal/refusal.ts'
export type { SettleOption } from './settlement/settlement.ts'
export type { ClientUsage, PolicyUsage } from './usage/usage.ts'
