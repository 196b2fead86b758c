// Compiled as ESM (.mts) and as CommonJS (.cts) against the packed declarations; never run.

import type { ExecutionContext } from '@nestjs/common'
import {
  RateLimit,
  RateLimitException,
  RateLimitGuard,
  RateLimitModule,
  type RateLimits,
} from '@sluice/nest'
import shedLoad, { shedLoad as byName } from '@sluice/nest/overload'
import type { Request } from 'express'

export const modules = [
  RateLimitModule.forRoot({ limit: 2, window: '1m', key: ({ ip }) => ip }),
  RateLimitModule.forRoot({ limit: 2, window: '1m', key: (request: Request) => request.hostname }),
  RateLimitModule.forRootAsync({ useFactory: async () => ({ limit: 2, window: '1m' }) }),
]

// @ts-expect-error A limit in quotes is an error: the types are not any.
RateLimitModule.forRoot({ limit: '2', window: '1m' })

export const decorate = RateLimit({ cost: ({ url }) => url.length })

export class Guard extends RateLimitGuard {
  protected override getRequest(context: ExecutionContext) {
    return { request: context.getArgByIndex(2).req }
  }
}

export const remaining = async ({ limiter }: RateLimits) => (await limiter.peek('a')).remaining
export const isRefusal = (error: unknown): boolean => error instanceof RateLimitException
export const isSame: boolean = shedLoad === byName
