// A reply that is lost leaves a charge behind, once: nothing is sent again but after NOSCRIPT.

import { afterAll, beforeAll, expect, test } from '@jest/globals'
import {
  type RedisProxy,
  type RedisServer,
  startProxy,
  startRedis,
  until,
} from '@sluice/test-harness/redis'
import { GlideClient } from '@valkey/valkey-glide'
import { Redis } from 'ioredis'
import { Redis as Redis5 } from 'ioredis5'
import * as iovalkey from 'iovalkey'
import * as redis6 from 'redis'
import * as redis5 from 'redis5'
import { createLimiter, type RedisClient } from '../../index.ts'
import {
  addressed,
  addressOf,
  type Open,
  ofGlide,
  ofIoRedis,
  ofNodeRedis,
} from './testing/every-client.ts'
import { unguarded } from './testing/unguarded.ts'

let redis: RedisServer
let proxy: RedisProxy
let url: string
beforeAll(async () => {
  redis = await startRedis()
  proxy = await startProxy(redis)
  url = proxy.url
})
afterAll(async () => {
  await proxy.stop()
  await redis.stop()
})

const options = { disconnectTimeout: 0, retryStrategy: () => 10 }
const once = { ...options, maxRetriesPerRequest: 0 }
const ways: Record<string, () => Open | Promise<Open>> = {
  'node-redis 6': () => ofNodeRedis(redis6.createClient({ url })),
  'node-redis 5': () => ofNodeRedis(redis5.createClient({ url })),
  'ioredis 6 with maxRetriesPerRequest: 0': () => quiet(new Redis(url, once)),
  'ioredis 5 with maxRetriesPerRequest: 0': () => quiet(new Redis5(url, once)),
  'iovalkey with maxRetriesPerRequest: 0': () => quiet(new iovalkey.Redis(url, once)),
  'valkey-glide 2': () => ofGlide(GlideClient.createClient(addressed(addressOf(url)))),
}

function quiet(
  client: Parameters<typeof ofIoRedis>[0] & { on(event: 'error', listener: () => void): unknown },
): Open {
  client.on('error', () => {})
  return ofIoRedis(client)
}

/** What 10 requests leave charged whose replies are lost, with the calls of the script. */
async function chargedBy(client: RedisClient, prefix: string) {
  const limiter = createLimiter({ store: unguarded(client), limit: 100, window: '1d', prefix })
  await limiter.consume('other')
  await redis.command('CONFIG', 'RESETSTAT')
  proxy.loseReplies()
  const calls = Array.from({ length: 10 }, () => limiter.consume('client'))
  const settled = Promise.allSettled(calls)
  const ran = async () => ((await redis.commandStats()).evalsha?.calls ?? 0) >= calls.length
  await until(ran, { what: 'the server has run the script for each' })
  proxy.loseReplies(false)
  proxy.cut()
  const lost = (await settled).filter(({ status }) => status === 'rejected').length
  const peeked = await until(() => limiter.peek('client').catch(() => undefined), {
    what: 'the client is connected again',
  })
  return { lost, charged: 100 - peeked!.remaining }
}

test.each(Object.entries(ways))('%s', async (way, connect) => {
  const { client, close } = await connect()
  expect(await chargedBy(client, way.replace(/\W/g, '-'))).toEqual({ lost: 10, charged: 10 })
  close()
})

test('ioredis by its default sends again what was under way: charged twice, never too few', async () => {
  const { client, close } = quiet(new Redis(url, options))
  expect(await chargedBy(client, 'resent')).toEqual({ lost: 0, charged: 20 })
  close()
})
