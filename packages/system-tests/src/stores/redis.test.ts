import { afterAll, beforeAll, describe } from '@jest/globals'
import { redisStore } from '@sluice/core'
import { type RedisServer, startRedis } from '@sluice/test-harness/redis'
import { storeSuite } from '@sluice/test-suites'
import {
  everyClient,
  type Open,
  ofEachFamily,
  runnerFor,
} from '../../../core/src/stores/redis/testing/every-client.ts'
import { expectAllToExpire, expiries } from '../../../core/src/stores/redis/testing/ttl.ts'

let redis: RedisServer
beforeAll(async () => {
  redis = await startRedis()
})
afterAll(() => redis.stop())

describe.each(ofEachFamily(everyClient))('with %s', (name, connect) => {
  let open: Open
  beforeAll(async () => {
    open = await connect(redis.url)
  })
  afterAll(async () => {
    open.close()
    const left = await expiries(redis)
    // Inspecting takes as long as all keys of the server.
    await redis.command('FLUSHALL')
    expectAllToExpire(left)
  })

  storeSuite(runnerFor(name), 'the Redis store', {
    mode: 'async',
    inspects: true,
    create: (clock) => redisStore(open.client, { clock }),
  })
})
