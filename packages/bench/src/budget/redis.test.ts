// What goes over the wire for a decision. The bounds are a little above what was measured when they
// were set; lower them when things get smaller.

import { describe, expect, it } from '@jest/globals'
import { createLimiter } from '@sluice/core'
import { useRedis } from '@sluice/test-harness/jest'
import { patient } from '@sluice/test-harness/redis'
import { policies } from '../contenders/sluice.ts'
import { parseUsage } from '../decisions/usage.ts'
import { makeKeys } from '../memory/keys.ts'

const TURNS = 20
const keys = makeKeys(1000)

const redis = useRedis()

/** What a decision costs, if so many come in one turn of the event loop. */
async function costs(policyCount: number, perTurn: number) {
  const limiter = createLimiter({
    ...patient,
    store: redis.client,
    policies: policies('sliding-window', policyCount),
  })
  const turn = () =>
    Promise.all(Array.from({ length: perTurn }, (_, i) => limiter.consume(keys[i] as string)))
  const usageOf = async (act: () => Promise<unknown>) => {
    const before = parseUsage(await redis.client.info('everything'))
    await act()
    const after = parseUsage(await redis.client.info('everything'))
    return { calls: after.calls - before.calls, bytes: after.bytes - before.bytes }
  }
  // Each key has its state, and the server the script.
  await turn()
  const asking = await usageOf(async () => {})
  const { calls, bytes } = await usageOf(async () => {
    for (let i = 0; i < TURNS; i += 1) await turn()
  })
  limiter.close()
  const decisions = TURNS * perTurn
  return { calls: calls / decisions, bytes: Math.round((bytes - asking.bytes) / decisions) }
}

describe('a decision on Redis', () => {
  it.each([
    { policies: 1, perTurn: 1, calls: 1, bytes: 360 },
    { policies: 1, perTurn: 50, calls: 1 / 50, bytes: 120 },
    { policies: 3, perTurn: 1, calls: 1, bytes: 660 },
    { policies: 3, perTurn: 50, calls: 1 / 50, bytes: 340 },
  ])('of $policies policies, $perTurn in a turn: $calls calls, $bytes bytes', async (bound) => {
    const { calls, bytes } = await costs(bound.policies, bound.perTurn)
    expect(calls).toBe(bound.calls)
    expect(bytes).toBeLessThanOrEqual(bound.bytes)
  })
})
