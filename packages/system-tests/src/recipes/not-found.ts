import { type RateLimitHandler, type RateLimitOptions, rateLimit } from '@sluice/express'
import type { Express } from 'express'

export function notFound(app: Express, store: RateLimitOptions['store']): RateLimitHandler {
  // #region
  const probes = rateLimit({
    store,
    prefix: 'probes',
    limit: 20,
    window: '10m',
    cost: 0,
    settle: (_, response) => (response.statusCode === 404 ? 1 : 0),
    ban: { after: 1, within: '1d', for: ['1h', '1d'] },
    headers: false,
  })
  app.use(probes)
  // #endregion
  return probes
}
