import { type RateLimitHandler, type RateLimitOptions, rateLimit } from '@sluice/express'
import type { Express, RequestHandler } from 'express'

type Store = RateLimitOptions['store']

export function reserving(app: Express, store: Store, complete: RequestHandler): RateLimitHandler {
  const tokens = rateLimit({
    store,
    limit: 10_000,
    window: '1m',
    cost: 1000,
    settle: (_, response) => response.locals.tokensUsed ?? undefined,
  })
  app.post('/completions', tokens, complete)
  return tokens
}

export function charging(app: Express, store: Store, complete: RequestHandler): RateLimitHandler {
  const tokens = rateLimit({
    store,
    limit: 10_000,
    window: '1m',
    cost: 0,
    settle: (_, response) => response.locals.tokensUsed ?? undefined,
  })
  app.post('/completions', tokens, complete)
  return tokens
}
