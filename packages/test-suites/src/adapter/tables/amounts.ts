import { expect } from 'expect'
import { WAYS } from '../ways.ts'
import type { World } from '../world.ts'

/** Limits, windows and costs that are functions of the request. */
export function amountTests(world: World): void {
  const { test } = world
  for (const [given, give] of WAYS)
    test(`limit as a function: tiers, ${given}`, async () => {
      const site = await world.start({
        limit: ({ headers }) => give(headers['x-plan'] === 'pro' ? 10 : 1),
        window: '1m',
        key: ({ headers }) => String(headers['x-plan']),
      })
      const pro = await site.sendTimes(2, { headers: { 'x-plan': 'pro' } })
      const free = await site.sendTimes(2, { headers: { 'x-plan': 'free' } })
      expect([...pro, ...free].map(({ status }) => status)).toEqual([200, 200, 200, 429])
      expect(pro[1]?.field('RateLimit-Policy')).toBe('"default";q=10;w=60')
      expect(pro[1]?.remaining).toBe(8)
      expect(free[1]?.field('RateLimit-Policy')).toBe('"default";q=1;w=60')
    })

  test('a client whose plan grows keeps what it has used', async () => {
    const site = await world.start({
      limit: ({ headers }) => Number(headers['x-limit']),
      window: '1m',
    })
    const statuses: number[] = []
    for (const limit of ['2', '2', '2', '5'])
      statuses.push((await site.send({ headers: { 'x-limit': limit } })).status)
    expect(statuses).toEqual([200, 200, 429, 200])
    expect((await site.send({ headers: { 'x-limit': '5' } })).remaining).toBe(1)
  })

  for (const [given, give] of WAYS)
    test(`window as a function: plans with other windows, ${given}`, async () => {
      const site = await world.start({
        limit: 2,
        window: ({ headers }) => give(headers['x-plan'] === 'pro' ? '1m' : '1h'),
        retryAfterJitter: 0,
        algorithm: 'fixed-window',
        key: ({ headers }) => String(headers['x-plan']),
      })
      const statuses = async (plan: string) =>
        (await site.sendTimes(3, { headers: { 'x-plan': plan } })).map(({ status }) => status)
      expect(await statuses('pro')).toEqual([200, 200, 429])
      expect(await statuses('free')).toEqual([200, 200, 429])
      world.clock.advance(60_000)
      expect(await statuses('pro')).toEqual([200, 200, 429])
      const refused = await site.send({ headers: { 'x-plan': 'free' } })
      expect(refused.field('RateLimit-Policy')).toBe('"default";q=2;w=3600')
      expect(refused.field('RateLimit')).toBe('"default";r=0;t=3540')
    })

  test('a client that chooses its window has one quota of each of 16 lengths, and then no other', async () => {
    const site = await world.start({
      limit: 1,
      window: ({ headers }) => Number(headers['x-window']),
    })
    const send = async (windowMs: number) =>
      (await site.send({ headers: { 'x-window': String(windowMs) } })).status
    const served: number[] = []
    for (const round of [1, 2])
      for (let hours = 1; hours <= 20; hours += 1)
        if ((await send(hours * 3_600_000)) === 200) served.push(round * 100 + hours)
    expect(served).toEqual(Array.from({ length: 16 }, (_, i) => 101 + i))
    expect(site.errors).toHaveLength(8)
    expect(site.errors[0]).toMatchObject({ code: 'SLUICE_OPTION_RANGE', option: 'window' })
  })

  for (const [given, give] of WAYS)
    test(`cost as a function, ${given}`, async () => {
      const cost = ({ headers }: { headers: Record<string, unknown> }) =>
        give(Number(headers['x-cost']))
      const site = await world.start({ limit: 10, window: '1m', cost })
      const results: number[][] = []
      for (const units of ['3', '0', '8', '7', '0']) {
        const reply = await site.send({ headers: { 'x-cost': units } })
        results.push([reply.status, reply.status === 200 ? reply.remaining : 0])
      }
      expect(results).toEqual([
        [200, 7],
        [200, 7],
        [429, 0],
        [200, 0],
        [429, 0],
      ])
    })
}
