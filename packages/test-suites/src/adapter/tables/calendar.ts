import { expect } from 'expect'
import { NOON, type World } from '../world.ts'

type Headers = { headers: Record<string, unknown> }

const HOUR = 3_600_000
const DAY = 24 * HOUR

/** Windows of the calendar: clients learn when they really end. */
export function calendarTests(world: World): void {
  const { test } = world

  test('a day ends at midnight in its time zone', async () => {
    const site = await world.start({ limit: 2, window: 'day', timeZone: 'Europe/Berlin' })
    const reply = await site.send()
    expect(reply.field('RateLimit-Policy')).toBe('"default";q=2;w=86400')
    expect(reply.field('RateLimit')).toBe(`"default";r=1;t=${11 * 3600}`)
    await site.send()
    expect((await site.send()).status).toBe(429)
    world.clock.set(NOON + 11 * HOUR - 1)
    expect((await site.send()).field('Retry-After')).toBe('1')
    world.clock.set(NOON + 11 * HOUR)
    expect((await site.send()).status).toBe(200)
  })

  test('a month begins on the day on which the plan of a client renews', async () => {
    const site = await world.start({
      limit: 2,
      window: 'month',
      anchor: ({ headers }: Headers) => headers['x-renews'] as string,
      key: ({ headers }: Headers) => `client of the ${headers['x-renews']}`,
    })
    const ends = async (day: string) => {
      const reply = await site.send({ headers: { 'x-renews': day } })
      return reply.field('RateLimit')
    }
    expect(await ends('2026-01-15')).toBe(`"default";r=1;t=${24 * 86_400 + 43_200}`)
    expect(await ends('2026-01-31')).toBe(`"default";r=1;t=${9 * 86_400 + 43_200}`)
  })

  test('a month and a second are decided together', async () => {
    const site = await world.start({
      retryAfterJitter: 0,
      policies: [
        { name: 'month', limit: 3, window: 'month' },
        { name: 'second', limit: 2, window: '1s', algorithm: 'fixed-window' },
      ],
    })
    const statuses = (await site.sendTimes(4)).map(({ status }) => status)
    expect(statuses).toEqual([200, 200, 429, 429])
    world.clock.set(NOON + 1000)
    const [served, refused] = await site.sendTimes(2)
    expect([served?.status, refused?.status]).toEqual([200, 429])
    expect(refused?.field('RateLimit')).toBe(`"month";r=0;t=${(10 * DAY + 12 * HOUR) / 1000 - 1}`)
  })
}
