import { expect, test } from '@jest/globals'
import { useRedis } from '@sluice/test-harness/jest'
import fc from 'fast-check'
import { type PolicyOptions, redisStore } from '../index.ts'
import type { Open } from './testing/alike.ts'
import { crowdedSuite } from './testing/crowded-parity.ts'
import type { Operation } from './testing/operations.ts'
import { expectParity, paritySuite } from './testing/parity-suite.ts'

const redis = useRedis()

const open: Open = (clock) => redisStore(redis.client, { clock })

paritySuite('Redis', open)
crowdedSuite('Redis', open, 15)

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
    await redis.server.command('CONFIG', 'RESETSTAT')
    await expectParity(open, policies, operations)
    // A block and the terms are written, and then a log as a whole only without its dropped entries.
    expect((await redis.server.commandStats()).set?.calls).toBeGreaterThan(2)
  })
  await fc.assert(parity, { numRuns: 3 })
})
