import { createHash } from 'node:crypto'
import { inspect } from 'node:util'
import { expect } from 'expect'
import { parseList } from 'structured-headers'
import type { World } from '../world.ts'

type Headers = { headers: Record<string, unknown> }
const OPTIONS = { limit: 5, window: '1m' } as const
const byHeader = ({ headers }: Headers) => Number(headers['x-cost'] ?? 1)

/** Mistakes of other limiters, as far as a client sees them. */
export function mistakeTests(world: World): void {
  const { test } = world
  test('what the burst refuses is not charged to the day', async () => {
    const site = await world.start({
      policies: [
        { name: 'burst', limit: 1, window: '1s', algorithm: 'fixed-window' },
        { name: 'day', limit: 10, window: '1d', algorithm: 'fixed-window' },
      ],
    })
    const replies = await site.sendTimes(10)
    expect(replies.filter(({ status }) => status === 429)).toHaveLength(9)
    world.clock.advance(1000)
    expect((await site.send()).field('RateLimit')).toMatch(/"day";r=8;/)
  })

  test('a second limiter is not ignored', async () => {
    const site = await world.start([OPTIONS, { limit: 1, window: '1h' }])
    expect((await site.sendTimes(2)).map(({ status }) => status)).toEqual([200, 429])
  })

  for (const algorithm of [
    'fixed-window',
    'sliding-window',
    'sliding-log',
    'token-bucket',
  ] as const)
    test(`a refused expensive request costs nothing: ${algorithm}`, async () => {
      const site = await world.start({ limit: 10, window: '1h', algorithm, cost: byHeader })
      await site.sendTimes(9)
      const expensive = await site.sendTimes(3, { headers: { 'x-cost': '100' } })
      expect(expensive.map(({ status }) => status)).toEqual([429, 429, 429])
      expect((await site.sendTimes(2)).map(({ status }) => status)).toEqual([200, 429])
    })

  test('after an expensive request is refused, a cheap one passes', async () => {
    const site = await world.start({ limit: 10, window: '1h', cost: byHeader })
    const statuses: number[] = []
    for (const cost of ['8', '5', '2', '1'])
      statuses.push((await site.send({ headers: { 'x-cost': cost } })).status)
    expect(statuses).toEqual([200, 429, 200, 429])
  })

  test('a window over 24.8 days limits, for all of its length', async () => {
    const site = await world.start({ limit: 1, window: '30d' }, { realTime: true })
    expect((await site.sendTimes(2)).map(({ status }) => status)).toEqual([200, 429])
    await new Promise((resolve) => setTimeout(resolve, 60))
    expect((await site.send()).status).toBe(429)
  })

  test('the window of 30 days ends after 30 days', async () => {
    const site = await world.start({ limit: 1, window: '30d', algorithm: 'sliding-log' })
    await site.send()
    world.clock.advance(30 * 86_400_000 - 1)
    expect((await site.send()).status).toBe(429)
    world.clock.advance(1)
    expect((await site.send()).status).toBe(200)
  })

  for (const [wrong, code, option] of [
    [{ limit: '5' }, 'SLUICE_OPTION_TYPE', 'limit'],
    [{ limit: Number.NaN }, 'SLUICE_OPTION_RANGE', 'limit'],
    [{ limit: undefined }, 'SLUICE_OPTION_TYPE', 'limit'],
    [{ window: '60' }, 'SLUICE_OPTION_TYPE', 'window'],
    [{ widnow: '1m' }, 'SLUICE_OPTION_UNKNOWN', 'widnow'],
    [{ max: 5 }, 'SLUICE_OPTION_UNKNOWN', 'max'],
  ] as const)
    test(`${inspect(wrong)} is refused at construction`, async () => {
      const options = { ...OPTIONS, ...wrong } as never
      await expect(world.start(options)).rejects.toMatchObject({
        name: 'SluiceError',
        code,
        option,
      })
    })

  test('any policy name makes a field that parses, without a partition key', async () => {
    const site = await world.start({ policies: [{ name: 'da"ily', limit: 5, window: '1d' }] })
    const reply = await site.send()
    const address = createHash('sha256').update('127.0.0.1').digest('hex')
    for (const name of ['RateLimit-Policy', 'RateLimit']) {
      const text = reply.field(name) as string
      const [[value, parameters]] = parseList(text) as [[string, Map<string, unknown>]]
      expect([value, parameters.has('pk')]).toEqual(['da"ily', false])
      expect(text).not.toContain(address.slice(0, 8))
    }
  })

  test('seconds are integers, never too few, never negative', async () => {
    const site = await world.start({ limit: 1, window: '1m', algorithm: 'fixed-window' })
    await site.send()
    for (const [at, least] of [
      [0, 60],
      [1, 60],
      [58_999, 2],
      [59_001, 1],
      [59_999, 1],
    ] as const) {
      world.clock.set(1_795_176_000_000 + at)
      const refused = await site.send()
      expect([at, refused.status]).toEqual([at, 429])
      expect(refused.seconds('Retry-After')).toBeGreaterThanOrEqual(least)
      expect(refused.field('RateLimit-Reset')).toBe(refused.field('Retry-After'))
    }
  })

  test('requests of one millisecond count each', async () => {
    const site = await world.start({ limit: 2, window: '1m', algorithm: 'sliding-log' })
    const replies = await Promise.all([site.send(), site.send(), site.send()])
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 200, 429])
  })
}
