import { type RateLimitHandler, type RateLimitOptions, rateLimit } from '@sluice/express'
import type { Express, Request } from 'express'

type Store = RateLimitOptions['store']

export function plans(
  app: Express,
  store: Store,
  renewalDate: (request: Request) => string | undefined,
): RateLimitHandler {
  // #region
  const plan = rateLimit({
    store,
    key: 'user',
    policies: [
      {
        name: 'month',
        limit: 10_000,
        window: 'month',
        timeZone: 'Europe/Berlin',
        anchor: (request) => renewalDate(request),
      },
      { name: 'minute', limit: 100, window: '1m' },
    ],
  })
  app.use('/api', plan)
  // #endregion
  return plan
}
