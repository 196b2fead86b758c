import { type RateLimitHandler, type RateLimitOptions, rateLimit } from '@sluice/express'
import type { Express } from 'express'

export function methods(app: Express, store: RateLimitOptions['store']): RateLimitHandler {
  // #region
  const limiter = rateLimit({
    store,
    limit: 300, // GET and everything else
    window: '1m',
    routes: {
      'POST /api/*path': { limit: 20 },
      'DELETE /api/*path': { limit: 5 },
    },
  })
  app.use(limiter)
  // #endregion
  return limiter
}
