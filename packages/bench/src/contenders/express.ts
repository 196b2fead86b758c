import { rateLimit as sluice } from '@sluice/express'
import express, { type RequestHandler } from 'express'
import { rateLimit } from 'express-rate-limit'
import { RateLimiterMemory } from 'rate-limiter-flexible'
import { AS_PEER, FLOOR_OF_DEFAULTS, FLOOR_OF_PEER, type HttpContenders } from './http.ts'
import { limiterFields } from './limiter-fields.ts'
import { BODY, LIMIT, WINDOW_MS } from './terms.ts'

function serve(limiter?: RequestHandler) {
  const app = express()
  if (limiter) app.use(limiter)
  app.get('/', (_request, response) => {
    response.json(BODY)
  })
  return app
}

/** A middleware as the documentation of rate-limiter-flexible has it: no fields, only the decision. */
function flexible(): RequestHandler {
  const limiter = new RateLimiterMemory({ points: LIMIT, duration: WINDOW_MS / 1000 })
  return (request, response, next) => {
    limiter.consume(request.ip ?? '').then(
      () => next(),
      () => response.status(429).send('Too Many Requests'),
    )
  }
}

const defaults = () => serve(sluice({ limit: LIMIT, window: WINDOW_MS }))

const asPeer = () => {
  const terms = { limit: LIMIT, window: WINDOW_MS, algorithm: 'fixed-window' } as const
  return serve(sluice({ ...terms, headers: 'draft-11' }))
}

async function floor(like: ReturnType<typeof serve>) {
  const fields = await limiterFields(like)
  return serve((_request, response, next) => {
    for (const [name, value] of fields) response.setHeader(name, value)
    next()
  })
}

export const expressContenders: HttpContenders = {
  bare: () => serve(),
  sluice: defaults,
  [AS_PEER]: asPeer,
  'express-rate-limit': () =>
    serve(
      rateLimit({
        limit: LIMIT,
        windowMs: WINDOW_MS,
        standardHeaders: 'draft-8',
        legacyHeaders: false,
      }),
    ),
  'rate-limiter-flexible, no headers': () => serve(flexible()),
  [FLOOR_OF_PEER]: () => floor(asPeer()),
  [FLOOR_OF_DEFAULTS]: () => floor(defaults()),
}
