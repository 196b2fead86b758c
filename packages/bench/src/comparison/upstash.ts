import { Ratelimit } from '@upstash/ratelimit'
import express from 'express'
import type { Redis } from 'ioredis'
import { overRest } from './rest-bridge.ts'
import { clientOf, listen, newPrefix, type Subject } from './subject.ts'

/** The limiter of Upstash has no middleware: its documentation calls it in a handler. */
export const onUpstash: Subject = {
  name: '@upstash/ratelimit',
  needsRedis: true,
  async serve(limits, redis) {
    const client = await overRest(redis as Redis)
    const limiters = limits.map(({ limit, windowMs }) => {
      const limiter = Ratelimit.slidingWindow(limit, `${windowMs} ms`)
      return new Ratelimit({ redis: client, limiter, prefix: newPrefix() })
    })
    const app = express()
    app.get('/', async ({ headers }, response) => {
      for (const [i, limiter] of limiters.entries()) {
        const { success, reset } = await limiter.limit(clientOf(headers, i))
        if (success) continue
        response.set('Retry-After', String(Math.ceil((reset - Date.now()) / 1000)))
        response.status(429).send('Unable to process at this time')
        return
      }
      response.send('served')
    })
    return listen(app)
  },
}
