import { type RateLimitHandler, type RateLimitOptions, rateLimit } from '@sluice/express'
import type { Express, RequestHandler } from 'express'

type Store = RateLimitOptions['store']

/** @param cost what is reserved; 0: all is charged afterwards */
const tokens = (cost: number) => {
  return (app: Express, store: Store, complete: RequestHandler): RateLimitHandler => {
    const limiter = rateLimit({
      store,
      limit: 10_000,
      window: '1m',
      cost,
      settle: (_, response) => response.locals.tokensUsed ?? undefined,
    })
    app.post('/completions', limiter, complete)
    return limiter
  }
}

export const reserving = tokens(1000)
export const charging = tokens(0)
