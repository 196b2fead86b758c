import LocalStore from '@fastify/rate-limit/store/LocalStore.js'
import { createLimiter, memoryStore } from '@sluice/core'
import { rateLimit as sluice } from '@sluice/express'
import express, { type Request, type RequestHandler } from 'express'
import { rateLimit as expressRateLimit, MemoryStore } from 'express-rate-limit'
import fastify, { type FastifyRequest } from 'fastify'
import Koa from 'koa'
import koaRateLimit from 'koa-ratelimit'
import MemoryLimiter from 'koa-ratelimit/limiter/memory.js'
import { RedisStore } from 'rate-limit-redis'
import { RateLimiterMemory, RateLimiterRedis } from 'rate-limiter-flexible'
import { onHono } from './hono.ts'
import { clientOf, listen, newPrefix, type Site, type Subject } from './subject.ts'
import { throttled } from './throttled.ts'
import { onUpstash } from './upstash.ts'

const MINUTE = 60_000

// Its types declare the same members of Fastify's as ours do, with other types: so none are loaded.
const FASTIFY_RATE_LIMIT: string = '@fastify/rate-limit'
const fastifyRateLimit = async () => (await import(FASTIFY_RATE_LIMIT)).default

const onExpress = (...handlers: RequestHandler[]): Promise<Site> => {
  const app = express()
  app.use(...handlers)
  app.get('/', (_, response) => void response.send('served'))
  return listen(app)
}

const ours: Subject = {
  name: 'Sluice',
  serve(limits, redis) {
    const policies = limits.map(({ limit, windowMs }, i) => ({
      name: `limit-${i}`,
      limit,
      window: windowMs,
      key: ({ headers }: Request) => clientOf(headers, i),
    }))
    return onExpress(sluice({ policies, ...(redis && { store: redis }), prefix: newPrefix() }))
  },
  async flood(keys) {
    const store = memoryStore({ maxKeys: 1000 })
    const limiter = createLimiter({ store, limit: 1, window: '1h' })
    for (const key of ['client', 'client', ...keys]) limiter.consume(key)
    const flooded = { kept: store.size, freed: limiter.consume('client').allowed }
    limiter.close()
    return flooded
  },
}

const onExpressRateLimit: Subject = {
  name: 'express-rate-limit',
  serve(limits, redis) {
    const limiters = limits.map(({ limit, windowMs }, i) =>
      expressRateLimit({
        limit,
        windowMs,
        keyGenerator: ({ headers }) => clientOf(headers, i),
        ...(redis && {
          store: new RedisStore({
            sendCommand: (command, ...args) => redis.call(command, ...args) as Promise<never>,
            prefix: newPrefix(),
          }),
        }),
      }),
    )
    return onExpress(...limiters)
  },
  async flood(keys) {
    const store = new MemoryStore()
    store.init({ windowMs: MINUTE } as never)
    for (const key of ['client', ...keys]) await store.increment(key)
    const found = await Promise.all(keys.map((key) => store.get(key)))
    const { totalHits } = await store.increment('client')
    store.shutdown()
    return { kept: found.filter((each) => each !== undefined).length, freed: totalHits === 1 }
  },
}

const onFastify: Subject = {
  name: '@fastify/rate-limit',
  async serve(limits, redis) {
    const app = fastify()
    const plugin = await fastifyRateLimit()
    for (const [i, { limit, windowMs }] of limits.entries()) {
      await app.register(plugin, {
        max: limit,
        timeWindow: windowMs,
        keyGenerator: ({ headers }: FastifyRequest) => clientOf(headers, i),
        ...(redis && { redis, nameSpace: newPrefix() }),
      })
    }
    app.get('/', async () => 'served')
    return { url: await app.listen({ port: 0, host: '127.0.0.1' }), close: () => app.close() }
  },
  async flood(keys) {
    const store = new LocalStore(false, false, 1000)
    const increment = (key: string) =>
      new Promise<number>((resolve, reject) => {
        const done = (error: Error | null, { current }: { current: number }) =>
          error === null ? resolve(current) : reject(error)
        store.incr(key, done, MINUTE, 1)
      })
    for (const key of ['client', ...keys]) await increment(key)
    return { kept: 1000, freed: (await increment('client')) === 1 }
  },
}

const onKoa: Subject = {
  name: 'koa-ratelimit',
  serve(limits, redis) {
    const app = new Koa()
    for (const [i, { limit: max, windowMs: duration }] of limits.entries()) {
      const id = (ctx: Koa.Context) => `${i}-${clientOf(ctx.headers, i)}`
      const shared = { max, duration, id }
      app.use(
        redis === undefined
          ? koaRateLimit({ ...shared, driver: 'memory', db: new Map() })
          : koaRateLimit({ ...shared, driver: 'redis', db: redis as never }),
      )
    }
    app.use((ctx) => {
      ctx.body = 'served'
    })
    return listen(app.callback())
  },
  async flood(keys) {
    const db = new Map()
    const increment = (id: string) => new MemoryLimiter({ id, db, max: 1, duration: MINUTE }).get()
    for (const key of ['client', ...keys]) await increment(key)
    const { remaining } = await increment('client')
    return { kept: db.size - 1, freed: remaining > 0 }
  },
}

/** The subject of rate-limiter-flexible. It has no middleware: this is the one of its documentation. */
const onFlexible: Subject = {
  name: 'rate-limiter-flexible',
  serve(limits, redis) {
    const limiters = limits.map(({ limit: points, windowMs }, i) => {
      const options = { points, duration: windowMs / 1000, keyPrefix: `${newPrefix()}${i}` }
      if (redis === undefined) return new RateLimiterMemory(options)
      return new RateLimiterRedis({ ...options, storeClient: redis })
    })
    return onExpress(({ headers }, response, next) => {
      Promise.all(limiters.map((limiter, i) => limiter.consume(clientOf(headers, i)))).then(
        () => next(),
        ({ msBeforeNext = 0 }) => {
          response.set('Retry-After', String(Math.ceil(msBeforeNext / 1000)))
          response.status(429).send('Too Many Requests')
        },
      )
    })
  },
  async flood(keys) {
    const limiter = new RateLimiterMemory({ points: 1, duration: 60 })
    for (const key of ['client', ...keys]) await limiter.consume(key)
    const found = await Promise.all(keys.map((key) => limiter.get(key)))
    const client = await limiter.get('client')
    for (const key of ['client', ...keys]) await limiter.delete(key)
    return { kept: found.filter((each) => each !== null).length, freed: client === null }
  },
}

export const subjects: readonly Subject[] = [
  ours,
  onExpressRateLimit,
  onFastify,
  onKoa,
  onFlexible,
  throttled,
  onHono,
  onUpstash,
]
