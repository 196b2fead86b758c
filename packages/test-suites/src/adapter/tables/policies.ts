import { expect } from 'expect'
import type { World } from '../world.ts'

type Headers = { headers: Record<string, unknown> }

/** Several policies, decided together. */
export function policyTests(world: World): void {
  const { test } = world
  test('each with its own key and cost', async () => {
    const site = await world.start({
      policies: [
        { name: 'requests', limit: 100, window: '1m' },
        {
          name: 'tokens',
          limit: 1000,
          window: '1h',
          key: ({ headers }: Headers) => `tenant:${headers['x-tenant']}`,
          cost: ({ headers }: Headers) => Number(headers['x-tokens']),
        },
      ],
    })
    const reply = await site.send({ headers: { 'x-tenant': 'a', 'x-tokens': '400' } })
    expect(site.keys).toEqual(['127.0.0.1', 'key:tenant:a'])
    expect(reply.field('RateLimit')).toMatch(/^"requests";r=99;t=\d+, "tokens";r=600;t=\d+$/)
    const other = await site.send({ headers: { 'x-tenant': 'b', 'x-tokens': '1' } })
    expect(other.field('RateLimit')).toMatch(/^"requests";r=98;t=\d+, "tokens";r=999;t=\d+$/)
  })

  test("a policy without its own key and cost has the limiter's", async () => {
    const site = await world.start({
      key: 'user',
      cost: 2,
      policies: [
        { name: 'user', limit: 10, window: '1m' },
        { name: 'address', limit: 10, window: '1m', key: 'ip', cost: 1 },
      ],
    })
    const reply = await site.send({ headers: { 'x-user': 'alice' } })
    expect(site.keys).toEqual(['user:alice', '127.0.0.1'])
    expect(reply.field('RateLimit')).toMatch(/^"user";r=8;t=\d+, "address";r=9;t=\d+$/)
  })

  test('all or nothing: whichever refuses, none is charged', async () => {
    const site = await world.start({
      policies: [
        { name: 'address', limit: 3, window: '1h' },
        {
          name: 'cents',
          limit: 10,
          window: '1h',
          cost: ({ headers }: Headers) => Number(headers['x-cents'] ?? 0),
        },
      ],
    })
    const over = await site.sendTimes(5, { headers: { 'x-cents': '11' } })
    expect(over.map(({ status }) => status)).toEqual([429, 429, 429, 429, 429])
    expect(JSON.parse(over[0]?.body as string)['violated-policies']).toEqual(['cents'])
    const within = await site.sendTimes(3, { headers: { 'x-cents': '3' } })
    expect(within.map(({ status }) => status)).toEqual([200, 200, 200])
    const exhausted = await site.send({ headers: { 'x-cents': '1' } })
    expect(JSON.parse(exhausted.body)['violated-policies']).toEqual(['address'])
  })

  test('tiers: the limit of one policy is a function, of the other a number', async () => {
    const site = await world.start({
      policies: [
        { name: 'burst', limit: 3, window: '1m' },
        {
          name: 'plan',
          limit: async ({ headers }: Headers) => Number(headers['x-plan']),
          window: '1h',
        },
      ],
    })
    const reply = await site.send({ headers: { 'x-plan': '7' } })
    expect(reply.field('RateLimit-Policy')).toBe('"burst";q=3;w=60, "plan";q=7;w=3600')
  })

  test('60 simultaneous requests with limit 30: exactly 30 get through', async () => {
    const site = await world.start({ limit: 30, window: '1m' })
    const replies = await Promise.all(Array.from({ length: 60 }, () => site.send()))
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(30)
    expect(replies.filter(({ status }) => status === 429)).toHaveLength(30)
    expect(site.decisions).toHaveLength(30)
  })

  test('on the real clock: exactly the limit, and again after Retry-After', async () => {
    const WINDOW_MS = 1000
    const options = { limit: 2, window: WINDOW_MS, algorithm: 'sliding-log' } as const
    const site = await world.start(options, { realTime: true })
    // Where requests take long, a window may end between them: then it takes more of them.
    let refused = await site.send()
    while (refused.status === 200) refused = await site.send()
    const times = site.decisions.map((decision) => decision?.at as number)
    expect(times.length).toBeGreaterThanOrEqual(2)
    for (const [i, third] of times.slice(2).entries())
      expect(third - (times[i] as number)).toBeGreaterThanOrEqual(WINDOW_MS)
    await new Promise((resolve) => setTimeout(resolve, refused.seconds('Retry-After') * 1000))
    expect((await site.send()).status).toBe(200)
  })
}
