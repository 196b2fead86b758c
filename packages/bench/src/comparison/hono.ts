import { getRequestListener } from '@hono/node-server'
import { Hono } from 'hono'
import { MemoryStore, RedisStore, rateLimiter } from 'hono-rate-limiter'
import { overRest } from './rest-bridge.ts'
import { clientOf, listen, newPrefix, type Subject } from './subject.ts'

/** The limiter that Hono's documentation names. Its store for Redis takes the client of Upstash. */
export const onHono: Subject = {
  name: 'hono-rate-limiter',
  async serve(limits, redis) {
    const client = redis && (await overRest(redis))
    const app = new Hono()
    for (const [i, { limit, windowMs }] of limits.entries()) {
      const store = client && new RedisStore({ client, prefix: newPrefix() })
      app.use(
        rateLimiter({
          windowMs,
          limit,
          keyGenerator: (c) => clientOf(c.req.header(), i),
          ...(store && { store }),
        }),
      )
    }
    app.get('/', (c) => c.text('served'))
    return listen(getRequestListener(app.fetch))
  },
  async flood(keys) {
    const store = new MemoryStore()
    store.init({ windowMs: 60_000 } as never)
    for (const key of ['client', ...keys]) await store.increment(key)
    const kept = keys.filter((key) => store.get(key) !== undefined).length
    const { totalHits } = await store.increment('client')
    store.shutdown()
    return { kept, freed: totalHits === 1 }
  },
}
