import { createHash } from 'node:crypto'
import { expect } from 'expect'
import type { World } from '../world.ts'

/** The fields of a response: which, when, and how they read. */
export function fieldTests(world: World): void {
  const { test } = world
  test('default fields of a served response, byte for byte', async () => {
    const site = await world.start({ limit: 100, window: '1m' })
    const reply = await site.send()
    expect([reply.status, reply.body]).toEqual([200, 'served'])
    expect(reply.all('Cache-Control')).toEqual([])
    expect(reply.limitFields()).toEqual({
      'ratelimit-policy': '"default";q=100;w=60',
      ratelimit: '"default";r=99;t=60',
      'ratelimit-limit': '100',
      'ratelimit-remaining': '99',
      'ratelimit-reset': '60',
    })
  })

  test('default fields of a refused response, byte for byte', async () => {
    const site = await world.start({ limit: 1, window: '1m', algorithm: 'fixed-window' })
    await site.send()
    world.clock.advance(56_500)
    const reply = await site.send()
    expect(reply.status).toBe(429)
    expect(reply.limitFields()).toEqual({
      'ratelimit-policy': '"default";q=1;w=60',
      ratelimit: '"default";r=0;t=4',
      'ratelimit-limit': '1',
      'ratelimit-remaining': '0',
      'ratelimit-reset': '4',
      'retry-after': '4',
    })
  })

  test('no space around ; and =, members joined by comma and space', async () => {
    const site = await world.start({
      policies: [
        { name: 'burst', limit: 10, window: '1s' },
        { name: 'daily', limit: 1000, window: '1d' },
      ],
    })
    const reply = await site.send()
    expect(reply.field('RateLimit-Policy')).toBe('"burst";q=10;w=1, "daily";q=1000;w=86400')
    expect(reply.field('RateLimit')).toMatch(/^"burst";r=9;t=\d+, "daily";r=999;t=\d+$/)
  })

  test('a limit of -0 and a limit of 10^12 are written as integers', async () => {
    const none = await world.start({ limit: -0, window: '1m' })
    expect((await none.send()).field('RateLimit-Policy')).toBe('"default";q=0;w=60')
    const most = await world.start({ limit: 1e12, window: '1y' })
    expect((await most.send()).field('RateLimit-Policy')).toMatch(/^"default";q=1000000000000;w=/)
  })

  test('headers: false sends no rate-limit field, not even an empty one, and Retry-After with a refusal', async () => {
    const options = { limit: 1, window: '1m', headers: false, retryAfterJitter: 0 } as const
    const site = await world.start({ ...options, algorithm: 'fixed-window' })
    const [served, refused] = await site.sendTimes(2)
    expect(served?.limitFields()).toEqual({})
    expect(refused?.limitFields()).toEqual({ 'retry-after': '60' })
  })

  test('what is left is never negative or a fraction', async () => {
    for (const algorithm of ['sliding-window', 'token-bucket', 'sliding-log'] as const) {
      const site = await world.start({ limit: 3, window: '1m', algorithm })
      const replies = await site.sendTimes(3)
      world.clock.advance(7_001)
      replies.push(...(await site.sendTimes(2)))
      for (const reply of replies) expect(reply.field('RateLimit')).toMatch(/^"default";r=[0-3];/)
    }
  })

  test('fields are not sent as trailers, though the client takes them', async () => {
    const site = await world.start({ limit: 2, window: '1m' })
    const reply = await site.send({ headers: { TE: 'trailers' } })
    expect(reply.trailers).toEqual([])
    expect(reply.all('Trailer')).toEqual([])
  })

  test('fields that the application has set before are replaced, not doubled', async () => {
    const site = await world.start(
      { limit: 1, window: '1m', algorithm: 'fixed-window' },
      {
        fields: { 'Retry-After': '1', RateLimit: '"mine";r=1' },
      },
    )
    expect((await site.send()).all('RateLimit')).toEqual(['"default";r=0;t=60'])
    const refused = await site.send()
    expect(refused.all('RateLimit')).toHaveLength(1)
    expect(refused.all('Retry-After')).toHaveLength(1)
    expect(refused.seconds('Retry-After')).toBeGreaterThanOrEqual(60)
  })

  test('a response that has been sent already is left alone', async () => {
    const site = await world.start({ limit: 1, window: '1m' }, { early: 'early' })
    for (const reply of await site.sendTimes(2)) {
      expect([reply.status, reply.body]).toEqual([200, 'early'])
      expect(reply.limitFields()).toEqual({})
    }
    // What is refused does not go on even then.
    expect(site.decisions.length).toBeLessThanOrEqual(1)
    expect(site.errors).toEqual([])
  })

  test('RateLimit-Policy stays the same over 20 responses, served and refused', async () => {
    const site = await world.start({ limit: 12, window: '1m' })
    const replies = await site.sendTimes(20)
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200, 429]))
    const texts = new Set(replies.map((reply) => reply.field('RateLimit-Policy')))
    expect([...texts]).toEqual(['"default";q=12;w=60'])
  })

  test('a bucket invites no faster pace than its own', async () => {
    const site = await world.start({ limit: 60, window: '1m', algorithm: 'token-bucket' })
    for (const reply of await site.sendTimes(59)) {
      const [, r, t] = /;r=(\d+);t=(\d+)/.exec(reply.field('RateLimit') as string) as string[]
      expect(Number(r) / Number(t)).toBeLessThanOrEqual(1)
    }
  })

  for (const status of [302, 304] as const)
    test(`a redirect (${status}) does not show an exhausted quota`, async () => {
      const site = await world.start({ limit: 2, window: '1m' }, { status })
      const [left, exhausted] = await site.sendTimes(2)
      expect([left?.status, left?.remaining]).toEqual([status, 1])
      expect(exhausted?.limitFields()).toEqual({ 'ratelimit-policy': '"default";q=2;w=60' })
    })

  test('a partition key only with a secret, and only that secret makes it', async () => {
    const keys: string[] = []
    for (const partitionSecret of ['a secret of some length', 'another secret of some length']) {
      const site = await world.start({ limit: 5, window: '1m', partitionSecret })
      const reply = await site.send()
      const [policy, usage] = ['RateLimit-Policy', 'RateLimit'].map(
        (name) => /;pk=:([A-Za-z0-9+/=]+):$/.exec(reply.field(name) ?? '')?.[1],
      )
      expect([policy, Buffer.from(policy as string, 'base64').length]).toEqual([usage, 9])
      keys.push(policy as string)
    }
    expect(keys[0]).not.toBe(keys[1])
    const plain = createHash('sha256').update('127.0.0.1').digest('base64')
    for (const key of keys) expect(plain).not.toContain(key)
  })

  test('a request that is skipped carries neither field', async () => {
    const site = await world.start({
      limit: 1,
      window: '1m',
      skip: ({ headers }) => headers['x-skip'] === 'yes',
    })
    expect((await site.send({ headers: { 'x-skip': 'yes' } })).limitFields()).toEqual({})
    expect((await site.send()).field('RateLimit')).toMatch(/^"default";r=0;/)
  })

  test('unknown paths are limited too, and say so', async () => {
    const site = await world.start({ limit: 1, window: '1m' })
    const missing = await site.send({ path: '/nowhere' })
    expect([missing.status, missing.remaining]).toEqual([404, 0])
    expect((await site.send({ path: '/nowhere' })).status).toBe(429)
  })
}
