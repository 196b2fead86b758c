import { afterAll, beforeAll, describe } from '@jest/globals'
import { redisStore } from '@sluice/core'
import { type RedisCluster, startCluster } from '@sluice/test-harness/redis'
import { storeSuite } from '@sluice/test-suites'
import {
  everyCluster,
  type Open,
  ofEachFamily,
  runnerFor,
} from '../../../core/src/stores/redis/testing/every-client.ts'
import { expectAllToExpire, expiries } from '../../../core/src/stores/redis/testing/ttl.ts'

let cluster: RedisCluster
beforeAll(async () => {
  cluster = await startCluster()
})
afterAll(async () => {
  const left = await Promise.all(cluster.nodes.map((node) => expiries(node)))
  await cluster.stop()
  for (const each of left) expectAllToExpire(each)
})

describe.each(ofEachFamily(everyCluster))('with a cluster of %s', (name, connect) => {
  let open: Open
  beforeAll(async () => {
    open = await connect(cluster)
  })
  afterAll(() => open.close())

  storeSuite(runnerFor(name), 'the Redis store', {
    mode: 'async',
    inspects: true,
    create: (clock) => redisStore(open.client, { clock }),
  })
})
