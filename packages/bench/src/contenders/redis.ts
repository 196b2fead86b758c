import FastifyRedisStore from '@fastify/rate-limit/store/RedisStore.js'
import type { Options } from 'express-rate-limit'
import { Cluster } from 'ioredis'
import RedisLimiter from 'koa-ratelimit/limiter/redis.js'
import { RedisStore, type SendCommandFn } from 'rate-limit-redis'
import { RateLimiterRedis } from 'rate-limiter-flexible'
import { decideBy, FLEXIBLE } from './flexible.ts'
import { redisFloor } from './redis-floor.ts'
import { ALGORITHMS, OURS, onStore } from './sluice.ts'
import { type Client, type Decide, LIMIT, WINDOW_MS } from './terms.ts'

export const RATE_LIMIT_REDIS = 'rate-limit-redis RedisStore.increment'
export const OURS_OF_3 = `${OURS}, 3 policies`
const FLOOR = 'floor: a script that reads and writes'
export const FLOOR_OF_3 = 'floor: the same, 3 keys'

/** Contenders by name. Each is made on a client that has ioredis' defaults. */
export const redisContenders: { readonly [name: string]: (client: Client) => Decide } = {
  ...Object.fromEntries(
    ALGORITHMS.map((algorithm) => [
      `sluice ${algorithm}`,
      (client: Client) => onStore(client, 1, algorithm),
    ]),
  ),
  [OURS_OF_3]: (client) => onStore(client, 3),

  '@fastify/rate-limit RedisStore.incr': (client) => {
    const store = new FastifyRedisStore(false, false, client)
    return (key) =>
      new Promise((resolve, reject) => {
        const answer = (error: Error | null, result: { current: number; ttl: number }) =>
          error ? reject(error) : resolve(result.current + result.ttl)
        store.incr(key, answer, WINDOW_MS, LIMIT)
      })
  },

  [RATE_LIMIT_REDIS]: (client) => {
    const store = new RedisStore({ sendCommand: sendTo(client) })
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

  'rate-limiter-flexible RateLimiterRedis.consume': (storeClient) =>
    decideBy(new RateLimiterRedis({ storeClient, ...FLEXIBLE })),

  [FLOOR]: (client) => redisFloor(client, 1),
  [FLOOR_OF_3]: (client) => redisFloor(client, 3),
}

/**
 * Sends commands as the documentation of rate-limit-redis has it; in a cluster every master needs the script.
 */
function sendTo(client: Client): SendCommandFn {
  return async (command, ...args) => {
    if (client instanceof Cluster && command === 'SCRIPT') {
      const loaded = client.nodes('master').map((node) => node.call(command, ...args))
      return (await Promise.all(loaded))[0] as string
    }
    return (await client.call(command, ...args)) as number
  }
}
