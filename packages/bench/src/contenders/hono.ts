import type { IncomingMessage, RequestListener } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import { rateLimit as sluice } from '@sluice/hono'
import { type Context, Hono, type MiddlewareHandler } from 'hono'
import { rateLimiter } from 'hono-rate-limiter'
import { getRequestListener as getRequestListener1 } from 'node-server1'
import { contendersOf } from './http.ts'
import { BODY, LIMIT, WINDOW_MS } from './terms.ts'

/** Reads the address as `getConnInfo` of @hono/node-server does, without the object that it makes. */
function address(c: Context): string {
  return (c.env as { incoming: IncomingMessage }).incoming.socket.remoteAddress as string
}

/** The contenders on a version of @hono/node-server. */
const contendersOn = (listenerOf: (app: Hono) => RequestListener) =>
  contendersOf<MiddlewareHandler>({
    serve(limiter) {
      const app = new Hono()
      if (limiter) app.use(limiter)
      app.get('/', (c) => c.json(BODY))
      return listenerOf(app)
    },
    sluice: (terms) => sluice({ ...terms, address }),
    headers: 'draft-6',
    constant: (fields) => (c, next) => {
      for (const [name, value] of fields) c.header(name, value)
      return next()
    },
    peers: {
      'hono-rate-limiter': () =>
        rateLimiter({ windowMs: WINDOW_MS, limit: LIMIT, keyGenerator: address }),
    },
  })

export const honoContenders = contendersOn(({ fetch }) => getRequestListener(fetch))
export const hono1Contenders = contendersOn(({ fetch }) => getRequestListener1(fetch))
