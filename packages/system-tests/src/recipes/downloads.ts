import { type RateLimitHandler, type RateLimitOptions, rateLimit } from '@sluice/express'
import type { Express, Request, RequestHandler } from 'express'

type Store = RateLimitOptions['store']

export function reserving(app: Express, store: Store, download: RequestHandler): RateLimitHandler {
  // #region
  const before = new WeakMap<Request, number>()
  const bytes = rateLimit({
    store,
    limit: 1_000_000,
    window: '1m',
    cost: (request) => {
      before.set(request, request.socket.bytesWritten)
      return 100_000
    },
    settle: (request) => request.socket.bytesWritten - (before.get(request) ?? 0),
  })
  app.get('/download', bytes, download)
  // #endregion
  return bytes
}

export function charging(app: Express, store: Store, download: RequestHandler): RateLimitHandler {
  const before = new WeakMap<Request, number>()
  const bytes = rateLimit({
    store,
    limit: 1_000_000,
    window: '1m',
    cost: (request) => {
      before.set(request, request.socket.bytesWritten)
      return 0
    },
    settle: (request) => request.socket.bytesWritten - (before.get(request) ?? 0),
  })
  app.get('/download', bytes, download)
  return bytes
}
