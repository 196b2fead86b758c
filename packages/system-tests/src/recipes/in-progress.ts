import { type RateLimitHandler, type RateLimitOptions, rateLimit } from '@sluice/express'
import type { Express, RequestHandler } from 'express'

type Store = RateLimitOptions['store']

export function inProgress(app: Express, store: Store, complete: RequestHandler): RateLimitHandler {
  // #region
  const model = rateLimit({
    store,
    key: 'user',
    policies: [
      { name: 'in-flight', concurrent: 5, hold: '30s' },
      { name: 'requests', limit: 60, window: '1m' },
    ],
  })
  app.post('/completions', model, complete)
  // #endregion
  return model
}
