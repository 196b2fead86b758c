import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { type RedisServer, startRedis } from '@sluice/test-harness/redis'
import fc from 'fast-check'
import { Redis } from 'ioredis'
import { type PolicyOptions, redisStore } from '../index.ts'
import type { Operation } from './testing/operations.ts'
import { expectParity, paritySuite } from './testing/parity-suite.ts'
import type { Open } from './testing/store-replay.ts'

let redis: RedisServer
let client: Redis
beforeAll(async () => {
  redis = await startRedis()
  client = new Redis(redis.port)
})
afterAll(async () => {
  client.disconnect()
  await redis.stop()
})

const open: Open = (clock) => redisStore(client, { clock })

paritySuite('Redis', open)

test('a long log is kept alike when its dropped entries are cleared away', async () => {
  const policies: PolicyOptions[] = [{ algorithm: 'sliding-log', limit: 120, window: 1000 }]
  const anyStep = fc.tuple(fc.integer({ min: 1, max: 15 }), fc.integer({ min: -2, max: 3 }))
  const anyRun = fc.noBias(fc.array(anyStep, { minLength: 600, maxLength: 600 }))
  const parity = fc.asyncProperty(anyRun, async (run) => {
    const operations = run.flatMap(([pass, units], i): Operation[] => [
      { pass: i % 100 === 99 ? -20 : pass },
      units < 0 ? { settle: units, key: 'a', ago: 20 } : { consume: [units, units], key: 'a' },
      { peek: 'a' },
    ])
    await redis.command('CONFIG', 'RESETSTAT')
    await expectParity(open, policies, operations)
    // A log is rewritten as a whole only without its dropped entries.
    expect((await redis.commandStats()).set?.calls).toBeGreaterThan(0)
  })
  await fc.assert(parity, { numRuns: 3 })
})
