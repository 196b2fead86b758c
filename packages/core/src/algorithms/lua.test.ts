import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { type RedisServer, startRedis } from '@sluice/test-harness/redis'
import { Redis } from 'ioredis'
import { type Ledger, redisStore } from '../index.ts'
import { manualClock } from '../testing/index.ts'
import type { Algorithm, Outcome } from './algorithm.ts'
import { fixedWindow } from './fixed-window/fixed-window.ts'
import { fixedWindowTraces } from './fixed-window/traces.ts'
import { leakyBucket } from './leaky-bucket/leaky-bucket.ts'
import { leakyBucketTraces } from './leaky-bucket/traces.ts'
import { slidingLog } from './sliding-log/sliding-log.ts'
import { slidingLogTraces } from './sliding-log/traces.ts'
import { slidingWindow } from './sliding-window/sliding-window.ts'
import { slidingWindowTraces } from './sliding-window/traces.ts'
import { START, type Trace } from './testing/trace.ts'
import { tokenBucket } from './token-bucket/token-bucket.ts'
import { tokenBucketTraces } from './token-bucket/traces.ts'

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

/** What the Lua form says on a Redis server, step by step, in the form of the expectations. */
async function replay(algorithm: Algorithm, trace: Trace): Promise<Partial<Outcome>[]> {
  const { name, params, from = START } = trace
  const clock = manualClock(from)
  const keyspace = { name: `${algorithm.name}: ${name}`, algorithm }
  const ledger = redisStore(client, { clock }).open([keyspace], 'traces')
  const limit = algorithm.compile(params)
  const said: Partial<Outcome>[] = []
  for (const step of trace.steps) {
    clock.set(from + step.at)
    if ('cost' in step) {
      said.push(await first(ledger, 'consume', { key: 'one', limit, cost: step.cost }))
    } else {
      await ledger.settle([{ key: 'one', limit, cost: step.delta }], from + step.chargedAt)
      const { remaining, resetMs } = await first(ledger, 'peek', { key: 'one', limit, cost: 0 })
      said.push({ remaining, resetMs })
    }
  }
  return said
}

async function first(
  ledger: Ledger<'async'>,
  op: 'consume' | 'peek',
  charge: Parameters<Ledger['peek']>[0][number],
): Promise<Outcome> {
  const { admitted, outcomes } = await ledger[op]([charge])
  expect(outcomes).toHaveLength(1)
  expect(outcomes[0]!.admitted).toBe(admitted)
  return outcomes[0]!
}

const recorded: { algorithm: Algorithm; traces: readonly Trace[] }[] = [
  { algorithm: fixedWindow, traces: fixedWindowTraces },
  { algorithm: slidingWindow, traces: slidingWindowTraces },
  { algorithm: slidingLog, traces: slidingLogTraces },
  { algorithm: tokenBucket, traces: tokenBucketTraces },
  { algorithm: leakyBucket, traces: leakyBucketTraces },
]

describe.each(recorded)('$algorithm.name in Lua follows the traces', ({ algorithm, traces }) => {
  test.each(traces)('$name', async (trace) => {
    expect(await replay(algorithm, trace)).toEqual(trace.steps.map((step) => step.expect))
  })
})

test('every key that the traces left has a time to live', async () => {
  const keys = await client.keys('traces*')
  expect(keys.length).toBeGreaterThan(50)
  for (const key of keys) expect(await client.pttl(key)).toBeGreaterThan(0)
})
