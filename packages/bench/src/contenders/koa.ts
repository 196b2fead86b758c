import { rateLimit as sluice } from '@sluice/koa'
import Koa, { type Middleware } from 'koa'
import ratelimit from 'koa-ratelimit'
import { AS_PEER, FLOOR_OF_DEFAULTS, FLOOR_OF_PEER, type HttpContenders } from './http.ts'
import { limiterFields } from './limiter-fields.ts'
import { BODY, LIMIT, WINDOW_MS } from './terms.ts'

function serve(limiter?: Middleware) {
  const app = new Koa()
  if (limiter) app.use(limiter)
  app.use((ctx) => {
    ctx.body = BODY
  })
  return app.callback()
}

const defaults = () => serve(sluice({ limit: LIMIT, window: WINDOW_MS }))

const asPeer = () => {
  const terms = { limit: LIMIT, window: WINDOW_MS, algorithm: 'fixed-window' } as const
  return serve(sluice({ ...terms, headers: 'legacy' }))
}

async function floor(like: ReturnType<typeof serve>) {
  const fields = await limiterFields(like)
  return serve((ctx, next) => {
    for (const [name, value] of fields) ctx.set(name, value)
    return next()
  })
}

export const koaContenders: HttpContenders = {
  bare: () => serve(),
  sluice: defaults,
  [AS_PEER]: asPeer,
  'koa-ratelimit': () =>
    serve(ratelimit({ driver: 'memory', db: new Map(), max: LIMIT, duration: WINDOW_MS })),
  [FLOOR_OF_PEER]: () => floor(asPeer()),
  [FLOOR_OF_DEFAULTS]: () => floor(defaults()),
}
