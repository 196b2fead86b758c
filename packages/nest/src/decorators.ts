import { type CustomDecorator, createParamDecorator, SetMetadata } from '@nestjs/common'
import type { RouteOverrides } from '@sluice/http'
import type { NestRequest, NestResponse } from './request-adapter.ts'

/** The key under which a controller or a handler has its options; false: it is exempt. */
export const OPTIONS = 'sluice:options'

/** The key under which a guard says that it limits: it holds for classes that extend it. */
export const GUARD = 'sluice:guard'

/**
 * Options that differ for a handler, or for each handler of a class. A handler's options override
 * its class's. A handler with its own limit counts separately.
 */
export function RateLimit<Request = NestRequest, Response = NestResponse>(
  options: RouteOverrides<Request, Response>,
): CustomDecorator {
  return SetMetadata(OPTIONS, options)
}

/** Exempts a handler, or a class. */
export function SkipRateLimit(): CustomDecorator {
  return SetMetadata(OPTIONS, false)
}

/** The decision about an HTTP request, as a parameter; undefined if the request was exempt. */
export const RateLimitDecision = createParamDecorator((_: unknown, context) =>
  context.getType() === 'http'
    ? context.switchToHttp().getRequest<NestRequest>().rateLimit
    : undefined,
)
