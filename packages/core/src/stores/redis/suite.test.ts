import * as runner from '@jest/globals'
import { afterAll, beforeAll, describe } from '@jest/globals'
import { type RedisServer, startRedis } from '@sluice/test-harness/redis'
import { storeSuite } from '@sluice/test-suites'
import { redisStore } from '../../index.ts'
import { everyClient, type Open } from './testing/every-client.ts'
import { expectAllToExpire, expiries } from './testing/ttl.ts'

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

  storeSuite(runner, 'the Redis store', {
    mode: 'async',
    inspects: true,
    create: (clock) => redisStore(open.client, { clock }),
  })
})
