import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import LocalStore from '@fastify/rate-limit/store/LocalStore.js'
import { createLimiter, memoryStore } from '@sluice/core'
import { type RateLimitOptions, rateLimit as sluice } from '@sluice/express'
import express, { type RequestHandler } from 'express'
import { rateLimit as expressRateLimit, MemoryStore } from 'express-rate-limit'
import fastify, { type FastifyRequest } from 'fastify'
import Koa from 'koa'
import koaRateLimit from 'koa-ratelimit'
import MemoryLimiter from 'koa-ratelimit/limiter/memory.js'
import { RedisStore } from 'rate-limit-redis'
import { RateLimiterMemory, RateLimiterRedis, RateLimiterUnion } from 'rate-limiter-flexible'
import type { Site, Subject } from './subject.ts'
import { throttled } from './throttled.ts'

const MINUTE = 60_000

// Its types declare the same members of Fastify's as ours do, with other types: so none are loaded.
const FASTIFY_RATE_LIMIT: string = '@fastify/rate-limit'
const fastifyRateLimit = async () => (await import(FASTIFY_RATE_LIMIT)).default

export async function listen(listener: RequestListener): Promise<Site> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

const onExpress = (...handlers: RequestHandler[]): Promise<Site> => {
  const app = express()
  app.use(...handlers)
  app.get('/', (_, response) => void response.send('served'))
  return listen(app)
}

const prefix = () => `peer-${Math.random().toString(36).slice(2)}:`
const clientOf = (headers: Record<string, unknown>) => String(headers.client)

const ours: Subject = {
  name: 'Sluice',
  serve(limits, redis) {
    const policies = limits.map(({ limit, windowMs }, i) => ({
      name: `limit-${i}`,
      limit,
      window: windowMs,
      algorithm: 'sliding-log' as const,
    }))
    const key = ({ headers }: { headers: Record<string, unknown> }) => clientOf(headers)
    return onExpress(sluice({ policies, key, ...(redis && { store: redis }), prefix: prefix() }))
  },
  make: (limit) => sluice({ limit, window: '1m' } as RateLimitOptions).limiter.close(),
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
    const limiters = limits.map(({ limit, windowMs }) =>
      expressRateLimit({
        limit,
        windowMs,
        keyGenerator: ({ headers }) => clientOf(headers),
        ...(redis && {
          store: new RedisStore({
            sendCommand: (command, ...args) => redis.call(command, ...args) as Promise<never>,
            prefix: prefix(),
          }),
        }),
      }),
    )
    return onExpress(...limiters)
  },
  make: (limit) => expressRateLimit({ limit, windowMs: MINUTE }),
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
    for (const { limit, windowMs } of limits) {
      await app.register(plugin, {
        max: limit,
        timeWindow: windowMs,
        keyGenerator: ({ headers }: FastifyRequest) => clientOf(headers),
        ...(redis && { redis, nameSpace: prefix() }),
      })
    }
    app.get('/', async () => 'served')
    return { url: await app.listen({ port: 0, host: '127.0.0.1' }), close: () => app.close() }
  },
  async make(max) {
    await fastify()
      .register(await fastifyRateLimit(), { max, timeWindow: MINUTE })
      .ready()
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
    for (const { limit: max, windowMs: duration } of limits) {
      const id = (ctx: Koa.Context) => `${max}-${duration}-${clientOf(ctx.headers)}`
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
  make: (max) => koaRateLimit({ driver: 'memory', db: new Map(), max, duration: MINUTE }),
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
      const options = { points, duration: windowMs / 1000, keyPrefix: `${prefix()}${i}` }
      if (redis === undefined) return new RateLimiterMemory(options)
      return new RateLimiterRedis({ ...options, storeClient: redis })
    })
    const [first] = limiters
    const limiter = limiters.length === 1 ? first : new RateLimiterUnion(...limiters)
    return onExpress((request, response, next) => {
      limiter?.consume(clientOf(request.headers)).then(
        () => next(),
        (refused) => {
          const waits = [refused, ...Object.values(refused)].map((each) => each?.msBeforeNext ?? 0)
          response.set('Retry-After', String(Math.ceil(Math.max(...waits) / 1000)))
          response.status(429).send('Too Many Requests')
        },
      )
    })
  },
  make: (points) => new RateLimiterMemory({ points, duration: 60 }),
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
]
