import { rateLimit as sluice } from '@sluice/express'
import express, { type RequestHandler } from 'express'
import { rateLimit } from 'express-rate-limit'
import type { Redis } from 'ioredis'
import { RedisStore } from 'rate-limit-redis'
import { RateLimiterMemory, RateLimiterRedis } from 'rate-limiter-flexible'
import { AS_PEER, type HttpContenders } from './http.ts'
import { BODY, LIMIT, WINDOW_MS } from './terms.ts'

function serve(limiter?: RequestHandler) {
  const app = express()
  if (limiter) app.use(limiter)
  app.get('/', (_request, response) => {
    response.json(BODY)
  })
  return app.listen(0, '127.0.0.1')
}

/** As its documentation has it: no fields in the response, only the decision. */
function flexible(client?: Redis): RequestHandler {
  const terms = { points: LIMIT, duration: WINDOW_MS / 1000 }
  const limiter = client
    ? new RateLimiterRedis({ storeClient: client, ...terms })
    : new RateLimiterMemory(terms)
  return (request, response, next) => {
    limiter.consume(request.ip ?? '').then(
      () => next(),
      () => response.status(429).send('Too Many Requests'),
    )
  }
}

const asPeer = { limit: LIMIT, window: WINDOW_MS, algorithm: 'fixed-window' } as const

export const expressContenders: HttpContenders = {
  bare: () => serve(),

  sluice: (store) => serve(sluice({ limit: LIMIT, window: WINDOW_MS, ...(store && { store }) })),

  [AS_PEER]: () => serve(sluice({ ...asPeer, headers: 'draft-11' })),

  'express-rate-limit': (client) =>
    serve(
      rateLimit({
        limit: LIMIT,
        windowMs: WINDOW_MS,
        standardHeaders: 'draft-8',
        legacyHeaders: false,
        ...(client && {
          store: new RedisStore({
            sendCommand: (command, ...args) => client.call(command, ...args) as Promise<number>,
          }),
        }),
      }),
    ),

  'rate-limiter-flexible, no headers': (client) => serve(flexible(client)),
}
