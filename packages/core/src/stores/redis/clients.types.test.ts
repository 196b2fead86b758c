import { expect, test } from '@jest/globals'
import type { RateLimitOptions } from '@sluice/http'
import { Redis as Upstash } from '@upstash/redis'
import { Redis as UpstashOnCloudflare } from '@upstash/redis/cloudflare'
import { Batch, type GlideClient, type GlideClusterClient } from '@valkey/valkey-glide'
import * as ioredis6 from 'ioredis'
import * as ioredis5 from 'ioredis5'
import * as iovalkey from 'iovalkey'
import * as redis6 from 'redis'
import * as redis5 from 'redis5'
import { createLimiter, type Decision, redisStore } from '../../index.ts'

// What these functions prove, `npm run lint` proves: they are compiled, never called.

/** The options of an adapter, which name the client in the same way. */
const rateLimit = (options: RateLimitOptions<unknown, unknown>) => options

const terms = { limit: 10, window: '1m' } as const
const rootNodes = [{ url: 'redis://127.0.0.1' }]
const sentinel = { name: 'mymaster', sentinelRootNodes: [{ host: '127.0.0.1', port: 26379 }] }

export function everyClientIsAccepted(glide: GlideClient, glideCluster: GlideClusterClient) {
  return [
    rateLimit({ ...terms, store: new ioredis6.Redis() }),
    rateLimit({ ...terms, store: new ioredis6.Cluster([]) }),
    rateLimit({ ...terms, store: new ioredis5.Redis() }),
    rateLimit({ ...terms, store: new ioredis5.Cluster([]) }),
    rateLimit({ ...terms, store: redis6.createClient() }),
    rateLimit({ ...terms, store: new iovalkey.Redis() }),
    rateLimit({ ...terms, store: new iovalkey.Cluster([]) }),
    rateLimit({ ...terms, store: glide }),
    rateLimit({ ...terms, store: glideCluster }),
    rateLimit({ ...terms, store: new Upstash({ url: '', token: '' }) }),
    rateLimit({ ...terms, store: new UpstashOnCloudflare({ url: '', token: '' }) }),
    rateLimit({ ...terms, store: redis6.createCluster({ rootNodes }) }),
    rateLimit({ ...terms, store: redis6.createClientPool() }),
    rateLimit({ ...terms, store: redis6.createSentinel(sentinel) }),
    rateLimit({ ...terms, store: redis5.createClient() }),
    rateLimit({ ...terms, store: redis5.createCluster({ rootNodes }) }),
    rateLimit({ ...terms, store: redis5.createClientPool() }),
    rateLimit({ ...terms, store: redis5.createSentinel(sentinel) }),
  ]
}

export async function howeverItIsMade() {
  const connected = await redis6.createClient({ url: 'redis://127.0.0.1', RESP: 2 }).connect()
  const connected5 = await redis5.createClient({ RESP: 3 }).connect()
  const mapping = { [redis6.RESP_TYPES.NUMBER]: String }
  const mapping5 = { [redis5.RESP_TYPES.NUMBER]: String }
  const typed: redis6.RedisClientType = redis6.createClient()
  const options: redis6.RedisClusterOptions = { rootNodes }
  return [
    redisStore(connected),
    redisStore(connected5),
    redisStore(connected.withTypeMapping(mapping)),
    redisStore(connected5.withTypeMapping(mapping5)),
    redisStore(connected.withCommandOptions({ timeout: 50 })),
    redisStore(typed),
    redisStore(redis6.createCluster(options)),
  ]
}

export function theyAnswerByPromise() {
  const node: Promise<Decision> = createLimiter({ ...terms, store: redis6.createClient() }).peek('')
  const io: Promise<Decision> = createLimiter({ ...terms, store: new ioredis6.Redis() }).peek('')
  return [node, io]
}

export function othersAreNot() {
  return [
    // @ts-expect-error: an address is no client
    redisStore('redis://127.0.0.1'),
    // @ts-expect-error: calls back instead of returning a promise
    redisStore(redis6.createClient().legacy()),
    // @ts-expect-error: a batch is no client
    redisStore(new Batch(true)),
    // @ts-expect-error: a pipeline is no client
    redisStore(new Upstash({ url: '', token: '' }).pipeline()),
    // @ts-expect-error: a transaction is no client
    redisStore(redis6.createClient().multi()),
  ]
}

test('compiles', () => {
  expect([everyClientIsAccepted, howeverItIsMade, theyAnswerByPromise, othersAreNot]).toBeDefined()
})
