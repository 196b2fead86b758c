import { type RateLimitHandler, type RateLimitOptions, rateLimit } from '@sluice/express'
import type { Express } from 'express'

export function bans(
  app: Express,
  store: RateLimitOptions['store'],
  warn: (text: string) => void,
): RateLimitHandler {
  // #region
  const limiter = rateLimit({
    store,
    limit: 100,
    window: '1m',
    ban: { after: 3, within: '1h', for: ['1m', '10m', '1d'] },
    onDecision({ ban, policies }) {
      if (ban?.began) warn(`${policies[0]?.key} is banned for ${ban.endsMs / 60_000} min`)
    },
  })
  app.use('/api', limiter)
  // #endregion
  return limiter
}
