import { type RateLimitHandler, type RateLimitOptions, rateLimit } from '@sluice/express'
import type { Express, Request } from 'express'

type Store = RateLimitOptions['store']

export function windows(
  app: Express,
  store: Store,
  planOf: (request: Request) => 'free' | 'pro',
): RateLimitHandler {
  // #region
  const plans = {
    free: { limit: 100, window: '1d' },
    pro: { limit: 600, window: '1m' },
  } as const
  const limiter = rateLimit({
    store,
    key: 'user',
    limit: (request) => plans[planOf(request)].limit,
    window: (request) => plans[planOf(request)].window,
  })
  app.use('/api', limiter)
  // #endregion
  return limiter
}
