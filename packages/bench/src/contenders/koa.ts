import { rateLimit as sluice } from '@sluice/koa'
import Koa, { type Middleware } from 'koa'
import ratelimit from 'koa-ratelimit'
import { contendersOf } from './http.ts'
import { BODY, LIMIT, WINDOW_MS } from './terms.ts'

export const koaContenders = contendersOf<Middleware>({
  serve(limiter) {
    const app = new Koa()
    if (limiter) app.use(limiter)
    app.use((ctx) => {
      ctx.body = BODY
    })
    return app.callback()
  },
  sluice,
  headers: 'legacy',
  constant: (fields) => (ctx, next) => {
    for (const [name, value] of fields) ctx.set(name, value)
    return next()
  },
  peers: {
    'koa-ratelimit': () =>
      ratelimit({ driver: 'memory', db: new Map(), max: LIMIT, duration: WINDOW_MS }),
  },
})
