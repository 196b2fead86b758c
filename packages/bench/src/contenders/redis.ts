import FastifyRedisStore from '@fastify/rate-limit/store/RedisStore.js'
import { type AlgorithmName, createLimiter } from '@sluice/core'
import type { Options } from 'express-rate-limit'
import { Cluster } from 'ioredis'
import RedisLimiter from 'koa-ratelimit/limiter/redis.js'
import { RedisStore, type SendCommandFn } from 'rate-limit-redis'
import { RateLimiterRedis } from 'rate-limiter-flexible'
import { redisFloor } from './redis-floor.ts'
import { ALGORITHMS, OURS, policies, readAll } from './sluice.ts'
import { type Client, type Decide, LIMIT, WINDOW_MS } from './terms.ts'

/**
 * A machine that stands still for a moment must not let this process decide in place of Redis,
 * which would be cheaper: it would fail the measurement (see `readAll`).
 */
const DEADLINE = '30s'

function sluice(client: Client, algorithm: AlgorithmName, count: number): Decide {
  const terms = { policies: policies(algorithm, count), deadline: DEADLINE } as const
  const limiter = createLimiter({ store: client, ...terms })
  return async (key) => readAll(await limiter.consume(key))
}

export const RATE_LIMIT_REDIS = 'rate-limit-redis RedisStore.increment'
export const OURS_OF_3 = `${OURS}, 3 policies`
export const FLOOR = 'floor: a script that reads and writes'
export const FLOOR_OF_3 = 'floor: the same, 3 keys'

/** Contenders by name. Each is made on a client that has ioredis' defaults. */
export const redisContenders: { readonly [name: string]: (client: Client) => Decide } = {
  ...Object.fromEntries(
    ALGORITHMS.map((algorithm) => [
      `sluice ${algorithm}`,
      (client: Client) => sluice(client, algorithm, 1),
    ]),
  ),
  [OURS_OF_3]: (client) => sluice(client, 'sliding-window', 3),

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

  'rate-limiter-flexible RateLimiterRedis.consume': (client) => {
    const terms = { points: LIMIT, duration: WINDOW_MS / 1000 }
    const limiter = new RateLimiterRedis({ storeClient: client, ...terms })
    return async (key) => (await limiter.consume(key)).remainingPoints
  },

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
