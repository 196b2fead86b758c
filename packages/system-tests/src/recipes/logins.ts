import { type RateLimitHandler, type RateLimitOptions, rateLimit } from '@sluice/express'
import type { Express, RequestHandler } from 'express'

type Store = RateLimitOptions['store']

export function reserving(app: Express, store: Store, login: RequestHandler): RateLimitHandler {
  const failures = rateLimit({
    store,
    limit: 5,
    window: '15m',
    settle: (_, response) => (response.statusCode === 401 ? 1 : 0),
  })
  app.post('/login', failures, login)
  return failures
}

export function charging(app: Express, store: Store, login: RequestHandler): RateLimitHandler {
  // #region
  const failures = rateLimit({
    store,
    limit: 5,
    window: '15m',
    cost: 0,
    settle: (_, response) => (response.statusCode === 401 ? 1 : 0),
  })
  app.post('/login', failures, login)
  // #endregion
  return failures
}
