import { afterAll, beforeAll, describe } from '@jest/globals'
import { redisStore } from '@sluice/core'
import { type RedisServer, startRedis } from '../../redis/index.ts'
import { storeSuite } from '../suite.ts'
import { everyClient, type Open } from './every-client.ts'
import { expectAllToExpire, expiries } from './ttl.ts'

let redis: RedisServer
beforeAll(async () => {
  redis = await startRedis()
})
afterAll(async () => {
  const left = await expiries(redis)
  await redis.stop()
  expectAllToExpire(left)
})

describe.each(everyClient)('with %s', (_, connect) => {
  let open: Open
  beforeAll(async () => {
    open = await connect(redis.url)
  })
  afterAll(() => open.close())

  storeSuite('the Redis store', {
    mode: 'async',
    create: (clock) => redisStore(open.client, { clock }),
  })
})
