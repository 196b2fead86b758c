import { expect, test } from '@jest/globals'
import { useRedis } from '@sluice/test-harness/jest'
import { redisStore } from '../index.ts'
import { traceSuite } from './testing/store-replay.ts'

const redis = useRedis()

/** What the script is composed for differs. */
const forms = {
  /** A request of one policy in its own call. */
  alone: { before: 0, after: 0 },
  /** A request of three policies in its own call. */
  together: { before: 1, after: 1 },
  /** A request of one policy, which follows another of the same cost in one call. */
  'batch of one cost': { before: 0, after: 0, beside: (cost: number) => cost },
  /** A request of three policies, which follows another of the same cost in one call. */
  'batch of one cost, several policies': { before: 2, after: 0, beside: (cost: number) => cost },
  /** A request of one policy, which follows another of a different cost in one call. */
  batch: { before: 0, after: 0, beside: (cost: number) => cost + 1 },
  /** A request of three policies, which follows another of a different cost in one call. */
  'batch of several policies': { before: 2, after: 0, beside: (cost: number) => cost + 1 },
}

traceSuite('Lua', (clock) => redisStore(redis.client, { clock }), forms)

test('every key that the traces left has a time to live', async () => {
  const keys = await redis.client.keys('traces*')
  expect(keys.length).toBeGreaterThan(50)
  for (const key of keys) expect(await redis.client.pttl(key)).toBeGreaterThan(0)
})
