import type { Decision } from '@sluice/core'
import { expect } from 'expect'
import type { World } from '../world.ts'

const ALGORITHMS = ['fixed-window', 'sliding-window', 'sliding-log', 'token-bucket'] as const

/** The only field that today's clients obey. */
export function retryAfterTests(world: World): void {
  const { test } = world
  for (const algorithm of ALGORITHMS)
    test(`Retry-After is enough, and a second less is not: ${algorithm}`, async () => {
      const site = await world.start({ limit: 3, window: '1m', algorithm, retryAfterJitter: 0 })
      world.clock.advance(12_345)
      await site.sendTimes(3)
      const refused = await site.send()
      const seconds = refused.seconds('Retry-After')
      expect([refused.status, seconds >= 2]).toEqual([429, true])

      world.clock.advance((seconds - 1) * 1000)
      expect((await site.send()).status).toBe(429)
      world.clock.advance(1000)
      expect((await site.send()).status).toBe(200)
    })

  for (const algorithm of ALGORITHMS)
    test(`Retry-After is the true wait, rounded up: ${algorithm}`, async () => {
      const decisions: Decision[] = []
      const onDecision = (decision: Decision) => void decisions.push(decision)
      const options = { limit: 7, window: '1m', algorithm, retryAfterJitter: 0 } as const
      const site = await world.start({ ...options, onDecision })
      for (let i = 0; i < 20; i += 1) {
        const reply = await site.send()
        const wait = decisions.at(-1)?.retryAfterMs as number
        if (reply.status === 429) expect(reply.seconds('Retry-After')).toBe(Math.ceil(wait / 1000))
        else expect([reply.field('Retry-After'), wait]).toEqual([undefined, 0])
        world.clock.advance(1_237)
      }
      expect(new Set(decisions.map(({ allowed }) => allowed)).size).toBe(2)
    })

  test('jitter adds, the same to every field, and a client keeps its share', async () => {
    const decisions: Decision[] = []
    const site = await world.start({
      limit: 1,
      window: '1m',
      algorithm: 'fixed-window',
      retryAfterJitter: 1,
      key: ({ headers }) => String(headers['x-client']),
      onDecision: (decision) => void decisions.push(decision),
    })
    const waits = new Set<number>()
    for (let i = 0; i < 20; i += 1) {
      const headers = { 'x-client': `client-${i}` }
      const [, first, second] = await site.sendTimes(3, { headers })
      const seconds = first?.seconds('Retry-After') as number
      const wait = decisions.at(-1)?.retryAfterMs as number
      expect(seconds * 1000).toBeGreaterThanOrEqual(wait)
      expect(seconds * 1000).toBeLessThanOrEqual(Math.min(2 * wait, wait + 30_000))
      expect(first?.field('RateLimit')).toBe(`"default";r=0;t=${seconds}`)
      expect(first?.field('RateLimit-Reset')).toBe(`${seconds}`)
      expect(second?.limitFields()).toEqual(first?.limitFields())
      waits.add(seconds)
    }
    expect(waits.size).toBeGreaterThan(5)
  })

  test('jitter is on by default, for long waits only, and at most a tenth', async () => {
    const site = await world.start({
      limit: 1,
      window: '4m',
      algorithm: 'fixed-window',
      key: ({ headers }) => String(headers['x-client']),
    })
    const waits = new Set<number>()
    for (let i = 0; i < 15; i += 1) {
      const [, refused] = await site.sendTimes(2, { headers: { 'x-client': `client-${i}` } })
      waits.add(refused?.seconds('Retry-After') as number)
    }
    expect(waits.size).toBeGreaterThan(3)
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(240)
    expect(Math.max(...waits)).toBeLessThanOrEqual(264)
  })

  test('a wait of a millisecond is a second', async () => {
    const site = await world.start({ limit: 1, window: '1ms', algorithm: 'fixed-window' })
    const [, refused] = await site.sendTimes(2)
    expect(refused?.field('Retry-After')).toBe('1')
  })

  test('a wait of years is cut to the maximum of a timer', async () => {
    const site = await world.start({ limit: 1, window: '10y', algorithm: 'fixed-window' })
    const [, refused] = await site.sendTimes(2)
    expect(refused?.field('Retry-After')).toBe('2147483')
    expect(refused?.field('RateLimit')).toBe('"default";r=0;t=2147483')
  })

  test('a cost that never fits shows the window', async () => {
    const options = { limit: 5, window: '1m', retryAfterJitter: 0 } as const
    const site = await world.start({ ...options, cost: () => 6 })
    expect((await site.send()).field('Retry-After')).toBe('60')
  })

  test('Retry-After is the longest wait of those that refused', async () => {
    const site = await world.start({
      retryAfterJitter: 0,
      policies: [
        { name: 'burst', limit: 1, window: '1s', algorithm: 'fixed-window' },
        { name: 'minute', limit: 1, window: '1m', algorithm: 'fixed-window' },
        { name: 'daily', limit: 9, window: '1d', algorithm: 'fixed-window' },
      ],
    })
    const [, refused] = await site.sendTimes(2)
    expect(refused?.field('Retry-After')).toBe('60')
    expect(refused?.field('RateLimit')).toBe('"burst";r=0;t=1, "minute";r=0;t=60')
  })

  test('headers: false still sends Retry-After with a refusal', async () => {
    const options = { limit: 1, window: '1m', headers: false, retryAfterJitter: 0 } as const
    const site = await world.start({ ...options, algorithm: 'fixed-window' })
    const [, refused] = await site.sendTimes(2)
    expect(refused?.limitFields()).toEqual({ 'retry-after': '60' })
  })
}
