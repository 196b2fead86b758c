import { type RateLimitHandler, type RateLimitOptions, rateLimit } from '@sluice/express'
import type { Express, RequestHandler } from 'express'

type Store = RateLimitOptions['store']

export function budgets(app: Express, store: Store, complete: RequestHandler): RateLimitHandler {
  // #region
  const budget = rateLimit({
    store,
    key: 'user',
    headers: ['draft-11', 'openai'],
    policies: [
      { name: 'requests', limit: 60, window: '1m' },
      {
        name: 'tokens',
        unit: 'tokens',
        limit: 100_000,
        window: '1m',
        cost: 1000,
        settle: (_, response) => response.locals.tokensUsed ?? undefined,
      },
    ],
  })
  app.post('/completions', budget, complete)
  // #endregion
  return budget
}
