import { expect } from 'expect'
import { sendRaw } from '../client.ts'
import type { World } from '../world.ts'

const BURST = { limit: 2, window: '1s', algorithm: 'fixed-window', retryAfterJitter: 0 } as const
const MINUTE = { limit: 3, window: '1m', algorithm: 'fixed-window', retryAfterJitter: 0 } as const

/** Two limiters for one request. */
export function stackTests(world: World): void {
  const { test } = world
  test('each field once, with distinct names for the policies of both', async () => {
    const site = await world.start([BURST, MINUTE])
    const reply = await site.send()
    expect(reply.limitFields()).toEqual({
      'ratelimit-policy': '"default";q=2;w=1, "default-2";q=3;w=60',
      ratelimit: '"default";r=1;t=1, "default-2";r=2;t=60',
      'ratelimit-limit': '2',
      'ratelimit-remaining': '1',
      'ratelimit-reset': '1',
    })
    for (const name of Object.keys(reply.limitFields())) expect(reply.all(name)).toHaveLength(1)
  })

  test('the first refuses: the second does not decide, and has no fields', async () => {
    const site = await world.start([BURST, MINUTE])
    const replies = await site.sendTimes(3)
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 429])
    expect(replies[2]?.field('RateLimit')).toBe('"default";r=0;t=1')
    expect(site.keys).toHaveLength(5)
  })

  test('the second refuses: all policies are listed, only its wait is sent', async () => {
    const site = await world.start([BURST, MINUTE])
    await site.sendTimes(2)
    world.clock.advance(1000)
    await site.send()
    const refused = await site.send()
    expect(refused.status).toBe(429)
    expect(refused.field('RateLimit-Policy')).toBe('"default";q=2;w=1, "default-2";q=3;w=60')
    expect(refused.field('RateLimit')).toBe('"default-2";r=0;t=59')
    expect(refused.field('Retry-After')).toBe('59')
    expect(JSON.parse(refused.body)).toMatchObject({ status: 429 })
  })

  test('names that are distinct stay as they are, whatever their case', async () => {
    const policy = (name: string, limit: number) => ({
      policies: [{ name, limit, window: '1m' as const }],
    })
    const site = await world.start([policy('a', 5), policy('A', 6), policy('b', 7), policy('a', 8)])
    expect((await site.send()).field('RateLimit-Policy')).toBe(
      '"a";q=5;w=60, "A-2";q=6;w=60, "b";q=7;w=60, "a-3";q=8;w=60',
    )
  })

  test('one of them without fields: those of the other remain', async () => {
    const site = await world.start([
      { ...BURST, headers: false },
      MINUTE,
      { ...MINUTE, limit: 9, dryRun: true },
    ])
    expect((await site.send()).field('RateLimit')).toBe('"default";r=2;t=60')
  })

  test('the request holds the decision of the last', async () => {
    const site = await world.start([BURST, MINUTE])
    await site.send()
    expect(site.decisions).toEqual([expect.objectContaining({ limit: 3, remaining: 2 })])
  })

  test('the same one again does not decide: the first verdict stands', async () => {
    const rate = { name: 'rate', limit: 3, window: '1m', algorithm: 'fixed-window' } as const
    const policies = [rate, { name: 'slots', concurrent: 1 }]
    const site = await world.start({ policies, cost: 2 }, { passedTwice: true })
    const [served, refused] = await site.sendTimes(2)
    expect([served?.status, refused?.status]).toEqual([200, 429])
    expect(served?.field('RateLimit')).toBe('"rate";r=1;t=60, "slots";r=0')
    expect(site.decisions).toEqual([expect.objectContaining({ remaining: 0 })])
    // Two policies of each.
    expect(site.keys).toHaveLength(4)
  })

  test('two of them, each twice: both count, once each; so does each request of a connection', async () => {
    const site = await world.start([{ ...MINUTE, limit: 9 }, MINUTE], { passedTwice: true })
    const GET = 'GET / HTTP/1.1\r\nHost: a\r\n'
    await sendRaw(site.target, `${GET}\r\n${GET}Connection: close\r\n\r\n`)
    expect((await site.send()).field('RateLimit')).toBe('"default";r=6;t=60, "default-2";r=0;t=60')
    expect(site.keys).toHaveLength(6)
  })

  test('a refusal with which the application goes on stands too', async () => {
    const site = await world.start(
      { ...MINUTE, limit: 0, respond: 'continue' },
      { passedTwice: true },
    )
    const reply = await site.send()
    expect([reply.status, reply.field('RateLimit')]).toEqual([200, '"default";r=0;t=60'])
    expect(site.decisions).toEqual([expect.objectContaining({ allowed: false })])
    expect(site.keys).toHaveLength(1)
  })
}
