// How long one call of any kind keeps Redis busy. On an idle machine it is below 2 ms, as
// docs/performance.md shows; the bound is higher, since other tests run at the same time.

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { type RedisServer, startRedis } from '@sluice/test-harness/redis'
import { Redis } from 'ioredis'
import { cases } from '../calls/cases.ts'
import { longestCall } from '../calls/longest-call.ts'

const BOUND_MS = 4

let redis: RedisServer
let client: Redis
beforeAll(async () => {
  redis = await startRedis()
  client = new Redis(redis.url)
})
afterAll(async () => {
  client.disconnect()
  await redis.stop()
})

describe('no call takes Redis long', () => {
  it.each(cases)('$kind: $what', async (each) => {
    const { calls, micros } = await longestCall(client, each, 20, 1000 * BOUND_MS)
    expect(calls).toBeGreaterThan(0)
    expect(micros / 1000).toBeLessThan(BOUND_MS)
  })
})
