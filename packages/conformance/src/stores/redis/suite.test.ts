import { afterAll, beforeAll } from '@jest/globals'
import { redisStore } from '@sluice/core'
import { Redis } from 'ioredis'
import { type RedisServer, startRedis } from '../../redis/index.ts'
import { storeSuite } from '../suite.ts'
import { expectAllToExpire, expiries } from './ttl.ts'

let redis: RedisServer
let client: Redis

beforeAll(async () => {
  redis = await startRedis()
  client = new Redis(redis.url)
})
afterAll(async () => {
  const left = await expiries(redis)
  client.disconnect()
  await redis.stop()
  expectAllToExpire(left)
})

storeSuite('the Redis store', { mode: 'async', create: (clock) => redisStore(client, { clock }) })
