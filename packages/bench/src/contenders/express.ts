import { rateLimit as sluice } from '@sluice/express'
import express, { type RequestHandler } from 'express'
import { rateLimit } from 'express-rate-limit'
import { RateLimiterMemory } from 'rate-limiter-flexible'
import { contendersOf } from './http.ts'
import { BODY, LIMIT, WINDOW_MS } from './terms.ts'

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

const terms = { limit: LIMIT, windowMs: WINDOW_MS }

export const expressContenders = contendersOf<RequestHandler>({
  serve(limiter) {
    const app = express()
    if (limiter) app.use(limiter)
    app.get('/', (_request, response) => {
      response.json(BODY)
    })
    return app
  },
  sluice,
  headers: 'draft-11',
  constant: (fields) => (_request, response, next) => {
    for (const [name, value] of fields) response.setHeader(name, value)
    next()
  },
  peers: {
    'express-rate-limit': () =>
      rateLimit({ ...terms, standardHeaders: 'draft-8', legacyHeaders: false }),
    'rate-limiter-flexible, no headers': flexible,
  },
})
