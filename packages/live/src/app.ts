import { setTimeout } from 'node:timers/promises'
import { type RateLimitOptions, rateLimit } from '@sluice/express'
import express, { type Express, type Request } from 'express'
import type { Asset } from './assets.ts'
import { algorithms, limits, WORK_MS } from './limits.ts'
import { overloadRouter } from './overload.ts'

/** The page loads its own files and talks to its own server, and does nothing else. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  ...['script-src', 'style-src', 'img-src', 'connect-src'].map((kind) => `${kind} 'self'`),
  ...['base-uri', 'form-action', 'frame-ancestors'].map((kind) => `${kind} 'none'`),
].join('; ')

/**
 * The demo: one endpoint for each limiter, limited by the same middleware that users install, and
 * the page that calls them.
 *
 * @param assets the assets by their paths
 */
export function createApp(
  store: NonNullable<RateLimitOptions['store']>,
  assets: ReadonlyMap<string, Asset>,
): Express {
  const app = express()
  app.disable('x-powered-by')
  app.use((_, response, next) => {
    response.set('Content-Security-Policy', CONTENT_SECURITY_POLICY)
    response.set('X-Content-Type-Options', 'nosniff')
    response.set('Cache-Control', 'no-store')
    next()
  })

  for (const algorithm of algorithms) {
    const limit = rateLimit({ ...limits[algorithm], store, key: clientOf } as RateLimitOptions)
    app.get(`/try/${algorithm}`, limit, async ({ rateLimit }, response) => {
      if (algorithm === 'concurrency') await setTimeout(WORK_MS)
      response.json({ admittedBy: algorithm, remaining: rateLimit?.remaining })
    })
  }

  // A fixed window begins by the store's clock. Asking for it changes nothing.
  const { limiter } = rateLimit({
    ...limits['fixed-window'],
    store,
    prefix: 'clock',
  } as RateLimitOptions)
  app.get('/clock', async (_, response) => {
    const { at } = await limiter.peek('clock')
    response.json({ now: at })
  })

  app.use('/overload', overloadRouter())

  for (const [path, { type, body }] of assets) {
    app.get(path, (_, response) => void response.type(type).send(body))
  }
  return app
}

/**
 * Each tab of the page is its own client, by an id that it makes; other clients are identified by
 * their address. A real limiter does not trust an id that the client chooses.
 */
function clientOf(request: Request): string {
  const tab = request.get('Demo-Client')?.slice(0, 64)
  return tab === undefined ? `address:${request.ip}` : `tab:${tab}`
}
