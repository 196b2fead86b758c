// What is remembered of Redis' refusals is what Redis would say.

import { describe, expect, test } from '@jest/globals'
import { useRedis } from '@sluice/test-harness/jest'
import { random } from '@sluice/test-harness/random'
import { createLimiter, type Decision, redisStore } from '../../index.ts'
import { manualClock } from '../../testing/index.ts'

const redis = useRedis()

/** The decision without its source. */
function unsigned({ source: _, policies, ...decision }: Decision) {
  return { ...decision, policies: policies.map(({ source: __, ...policy }) => policy) }
}

const algorithms = [
  'sliding-window',
  'fixed-window',
  'sliding-log',
  'token-bucket',
  'leaky-bucket',
] as const

describe.each(algorithms)('%s', (algorithm) => {
  const own = { algorithm, ...(algorithm === 'leaky-bucket' && { maxDelay: 0 }) }
  const policies = [
    { ...own, name: 'first', limit: 1, window: 2000 },
    { ...own, name: 'last', limit: 1, window: 3000 },
  ]
  test('of several policies, at any cost and any time', async () => {
    const clock = manualClock()
    const store = redisStore(redis.client, { clock })
    const terms = { store, policies, prefix: algorithm, deadline: '1m' } as const
    const remembering = createLimiter(terms)
    const asking = createLimiter({ ...terms, refusalCache: false })
    const draw = random(1)
    let remembered = 0
    for (let i = 0; i < 400; i += 1) {
      clock.advance(Math.floor(draw() ** 4 * 2000))
      const cost = draw() < 0.8 ? 1 : Math.floor(draw() * 3)
      const decision = await remembering.consume('client', { cost })
      if (decision.source === 'cache') remembered += 1
      if (!decision.allowed) {
        expect(unsigned(decision)).toEqual(unsigned(await asking.consume('client', { cost })))
      }
    }
    expect(remembered).toBeGreaterThan(20)
  })
})
