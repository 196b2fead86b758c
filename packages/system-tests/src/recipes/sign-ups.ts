import { type RateLimitHandler, type RateLimitOptions, rateLimit } from '@sluice/express'
import type { Express, RequestHandler } from 'express'

type Store = RateLimitOptions['store']

export function reserving(app: Express, store: Store, signUp: RequestHandler): RateLimitHandler {
  // #region
  const accounts = rateLimit({
    store,
    limit: 5,
    window: '1d',
    settle: (_, response) => (response.statusCode === 201 ? 1 : 0),
  })
  app.post('/accounts', accounts, signUp)
  // #endregion
  return accounts
}

export function charging(app: Express, store: Store, signUp: RequestHandler): RateLimitHandler {
  // #region
  const accounts = rateLimit({
    store,
    limit: 5,
    window: '1d',
    cost: 0,
    settle: (_, response) => (response.statusCode === 201 ? 1 : 0),
  })
  app.post('/accounts', accounts, signUp)
  // #endregion
  return accounts
}
