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

  test.each(['reset', 'settle', 'block'] as const)(
    'ends by %s of another limiter in this process',
    async (act) => {
      const store = redisStore(redis.client, { clock: manualClock() })
      const terms = { store, ...own, limit: 2, window: '1h', deadline: '1m' } as const
      const [limiter, other] = [terms, terms].map((each) =>
        createLimiter({ ...each, prefix: `${algorithm}-${act}` }),
      )
      for (let i = 0; i < 2; i += 1) await limiter!.consume('client')
      await limiter!.consume('client')
      expect((await limiter!.consume('client')).source).toBe('cache')
      if (act === 'reset') await other!.reset('client')
      if (act === 'settle') await other!.settle('client', -1)
      if (act === 'block') await other!.block('client', '2h')
      const { source, allowed, retryAfterMs } = await limiter!.consume('client')
      expect([source, allowed, retryAfterMs]).toEqual(
        act === 'block' ? ['store', false, 7_200_000] : ['store', true, 0],
      )
    },
  )
})

test('a ban begins with the refusal that it says, and then Redis is not asked', async () => {
  const store = redisStore(redis.client, { clock: manualClock() })
  const ban = { after: 10, within: '1m', for: ['10m'] } as const
  const limiter = createLimiter({
    store,
    limit: 1,
    window: '1h',
    prefix: 'ban',
    ban,
    deadline: '1m',
  })
  await limiter.consume('client')
  for (let i = 1; i < 10; i += 1) expect((await limiter.consume('client')).ban).toBeUndefined()
  expect((await limiter.consume('client')).ban).toEqual({ began: true, endsMs: 600_000 })
  expect(await limiter.consume('client')).toMatchObject({ source: 'cache', ban: { began: false } })
})
