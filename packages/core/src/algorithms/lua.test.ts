import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { type RedisServer, startRedis } from '@sluice/test-harness/redis'
import { Redis } from 'ioredis'
import { type Charge, redisStore, type StoreResult } from '../index.ts'
import { manualClock } from '../testing/index.ts'
import type { Algorithm, Outcome } from './algorithm.ts'
import { calendarWindow } from './calendar-window/calendar-window.ts'
import { calendarWindowTraces } from './calendar-window/traces.ts'
import { concurrency } from './concurrency/concurrency.ts'
import { concurrencyTraces } from './concurrency/traces.ts'
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

/** A limit that refuses nothing, for the policies besides the one of the trace. */
const endless = fixedWindow.compile({ limit: 1e12, windowMs: 1000 })

/** How a request reaches the server: what the script is composed for differs. */
const forms = {
  /** A request of one policy in its own call: request.lua. */
  alone: { before: 0, after: 0, beside: undefined },
  /** A request of three policies in its own call: request.lua. */
  together: { before: 1, after: 1, beside: undefined },
  /** Behind another request of the same cost: request.lua. */
  'batch of one cost': { before: 0, after: 0, beside: (cost: number) => cost },
  /** The same, of three policies. */
  'batch of one cost, several policies': { before: 2, after: 0, beside: (cost: number) => cost },
  /** Behind a request of another cost: driver.lua. */
  batch: { before: 0, after: 0, beside: (cost: number) => cost + 1 },
  /** The same, of three policies. */
  'batch of several policies': { before: 2, after: 0, beside: (cost: number) => cost + 1 },
}

/** What the Lua form says on a Redis server, step by step, in the form of the expectations. */
async function replay(algorithm: Algorithm, trace: Trace, form: keyof typeof forms) {
  const { before, after, beside } = forms[form]
  const { name, params, from = START } = trace
  const clock = manualClock(from)
  const others = (count: number) => Array.from({ length: count }, () => endless)
  const limit = algorithm.compile(params)
  const keyspaces = [...others(before), limit, ...others(after)].map((each, i) => {
    return { name: `${i} ${form} ${algorithm.name}: ${name}`, algorithm: each.algorithm }
  })
  const ledger = redisStore(client, { clock }).open(keyspaces, 'traces')
  const charge = (key: string, units: number, slot?: number): Charge[] => [
    ...others(before).map((each) => ({ key, limit: each, cost: 0 })),
    { key, limit, cost: units, slot },
    ...others(after).map((each) => ({ key, limit: each, cost: 0 })),
  ]
  const consume = async (cost: number, slot?: number) => {
    if (beside === undefined) return ledger.consume(charge('one', cost, slot))
    const requests = [charge('two', beside(cost)), charge('one', cost, slot)]
    const [, result] = (await ledger.consumeAll?.(requests)) ?? []
    return result as StoreResult
  }
  const said: Partial<Outcome>[] = []
  for (const step of trace.steps) {
    clock.set(from + step.at)
    if ('cost' in step) said.push(outcomeOf(await consume(step.cost, step.slot), before))
    else {
      await ledger.settle(charge('one', step.delta, step.slot), from + step.chargedAt)
      const { remaining, resetMs } = outcomeOf(await ledger.peek(charge('one', 0)), before)
      said.push({ remaining, resetMs })
    }
  }
  return said
}

function outcomeOf({ admitted, outcomes }: StoreResult, place: number): Outcome {
  const outcome = outcomes[place]!
  expect(outcome.admitted).toBe(admitted)
  const { remaining, resetMs, retryAfterMs, effectiveMs, delayMs } = outcome
  return { admitted, remaining, resetMs, retryAfterMs, effectiveMs, delayMs }
}

const recorded: { algorithm: Algorithm; traces: readonly Trace[] }[] = [
  { algorithm: fixedWindow, traces: fixedWindowTraces },
  { algorithm: calendarWindow, traces: calendarWindowTraces },
  { algorithm: slidingWindow, traces: slidingWindowTraces },
  { algorithm: slidingLog, traces: slidingLogTraces },
  { algorithm: tokenBucket, traces: tokenBucketTraces },
  { algorithm: leakyBucket, traces: leakyBucketTraces },
  { algorithm: concurrency, traces: concurrencyTraces },
]

describe.each(recorded)('$algorithm.name in Lua follows the traces', ({ algorithm, traces }) => {
  describe.each(Object.keys(forms) as (keyof typeof forms)[])('%s', (form) => {
    test.each(traces)('$name', async (trace) => {
      expect(await replay(algorithm, trace, form)).toEqual(trace.steps.map((step) => step.expect))
    })
  })
})

test('every key that the traces left has a time to live', async () => {
  const keys = await client.keys('traces*')
  expect(keys.length).toBeGreaterThan(50)
  for (const key of keys) expect(await client.pttl(key)).toBeGreaterThan(0)
})
