import type { IncomingMessage, RequestListener } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import { rateLimit as sluice } from '@sluice/hono'
import { type Context, Hono, type MiddlewareHandler } from 'hono'
import { rateLimiter } from 'hono-rate-limiter'
import { getRequestListener as getRequestListener1 } from 'node-server1'
import { AS_PEER, FLOOR_OF_DEFAULTS, FLOOR_OF_PEER, type HttpContenders } from './http.ts'
import { limiterFields } from './limiter-fields.ts'
import { BODY, LIMIT, WINDOW_MS } from './terms.ts'

type Listener = (app: Hono) => RequestListener

function honoApp(limiter?: MiddlewareHandler): Hono {
  const app = new Hono()
  if (limiter) app.use(limiter)
  app.get('/', (c) => c.json(BODY))
  return app
}

/** Reads the address as `getConnInfo` of @hono/node-server does, without the object that it makes. */
function address(c: Context): string | undefined {
  return (c.env as { incoming: IncomingMessage }).incoming.socket.remoteAddress
}

const defaults = () => honoApp(sluice({ limit: LIMIT, window: WINDOW_MS, address }))

const asPeer = () => {
  const terms = { limit: LIMIT, window: WINDOW_MS, algorithm: 'fixed-window' } as const
  return honoApp(sluice({ ...terms, headers: 'draft-6', address }))
}

async function floor(like: RequestListener): Promise<Hono> {
  const fields = await limiterFields(like)
  return honoApp((c, next) => {
    for (const [name, value] of fields) c.header(name, value)
    return next()
  })
}

/** The contenders on a version of @hono/node-server. */
function contendersOn(serve: Listener): HttpContenders {
  return {
    bare: () => serve(honoApp()),
    sluice: () => serve(defaults()),
    [AS_PEER]: () => serve(asPeer()),
    'hono-rate-limiter': () => {
      const keyGenerator = (c: Context) => address(c) as string
      return serve(honoApp(rateLimiter({ windowMs: WINDOW_MS, limit: LIMIT, keyGenerator })))
    },
    [FLOOR_OF_PEER]: async () => serve(await floor(serve(asPeer()))),
    [FLOOR_OF_DEFAULTS]: async () => serve(await floor(serve(defaults()))),
  }
}

export const honoContenders = contendersOn(({ fetch }) => getRequestListener(fetch))
export const hono1Contenders = contendersOn(({ fetch }) => getRequestListener1(fetch))
