import { rateLimit as sluice } from '@sluice/koa'
import Koa, { type Middleware } from 'koa'
import ratelimit from 'koa-ratelimit'
import { AS_PEER, type HttpContenders } from './http.ts'
import { BODY, LIMIT, WINDOW_MS } from './terms.ts'

function serve(limiter?: Middleware) {
  const app = new Koa()
  if (limiter) app.use(limiter)
  app.use((ctx) => {
    ctx.body = BODY
  })
  return app.listen(0, '127.0.0.1')
}

const asPeer = { limit: LIMIT, window: WINDOW_MS, algorithm: 'fixed-window' } as const

export const koaContenders: HttpContenders = {
  bare: () => serve(),

  sluice: (store) => serve(sluice({ limit: LIMIT, window: WINDOW_MS, ...(store && { store }) })),

  [AS_PEER]: () => serve(sluice({ ...asPeer, headers: 'legacy' })),

  'koa-ratelimit': (client) => {
    const store = client ? { driver: 'redis', db: client } : { driver: 'memory', db: new Map() }
    const options = { ...store, max: LIMIT, duration: WINDOW_MS } as ratelimit.MiddlewareOptions
    return serve(ratelimit(options))
  },
}
