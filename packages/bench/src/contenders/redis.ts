import FastifyRedisStore from '@fastify/rate-limit/store/RedisStore.js'
import { type AlgorithmName, createLimiter } from '@sluice/core'
import type { Options } from 'express-rate-limit'
import type { Redis } from 'ioredis'
import RedisLimiter from 'koa-ratelimit/limiter/redis.js'
import { RedisStore } from 'rate-limit-redis'
import { RateLimiterRedis } from 'rate-limiter-flexible'
import { ALGORITHMS, OURS, policies, readAll } from './sluice.ts'
import { LIMIT, WINDOW_MS } from './terms.ts'

/** Counts one request of a key; gives some number of the answer. */
export type Decide = (key: string) => Promise<number>

function sluice(client: Redis, algorithm: AlgorithmName, count: number): Decide {
  const limiter = createLimiter({ store: client, policies: policies(algorithm, count) })
  return async (key) => readAll(await limiter.consume(key))
}

/** By name, each makes a contender on a client that has ioredis' defaults. */
export const redisContenders: { readonly [name: string]: (client: Redis) => Decide } = {
  ...Object.fromEntries(
    ALGORITHMS.map((algorithm) => [
      `sluice ${algorithm}`,
      (client: Redis) => sluice(client, algorithm, 1),
    ]),
  ),
  [`${OURS}, 3 policies`]: (client) => sluice(client, 'sliding-window', 3),
  [`${OURS}, 10 policies`]: (client) => sluice(client, 'sliding-window', 10),

  '@fastify/rate-limit RedisStore.incr': (client) => {
    const store = new FastifyRedisStore(false, false, client)
    return (key) =>
      new Promise((resolve, reject) => {
        const answer = (error: Error | null, result: { current: number; ttl: number }) =>
          error ? reject(error) : resolve(result.current + result.ttl)
        store.incr(key, answer, WINDOW_MS, LIMIT)
      })
  },

  'rate-limit-redis RedisStore.increment': (client) => {
    const sendCommand = (command: string, ...args: string[]) =>
      client.call(command, ...args) as Promise<number>
    const store = new RedisStore({ sendCommand })
    store.init({ windowMs: WINDOW_MS } as Options)
    return async (key) => (await store.increment(key)).totalHits
  },

  'koa-ratelimit RedisLimiter.get': (client) => {
    // Its middleware makes a limiter for each request.
    return async (id) => {
      const limiter = new RedisLimiter({ id, db: client, max: LIMIT, duration: WINDOW_MS })
      return (await limiter.get()).remaining
    }
  },

  'rate-limiter-flexible RateLimiterRedis.consume': (client) => {
    const terms = { points: LIMIT, duration: WINDOW_MS / 1000 }
    const limiter = new RateLimiterRedis({ storeClient: client, ...terms })
    return async (key) => (await limiter.consume(key)).remainingPoints
  },
}
