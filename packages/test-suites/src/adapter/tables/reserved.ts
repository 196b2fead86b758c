import { expect } from 'expect'
import { openRaw } from '../client.ts'
import { eventually } from '../eventually.ts'
import type { RunningSite, World } from '../world.ts'
import { Work } from './work.ts'

type Headers = { headers: Record<string, unknown> }

const HOLD_MS = 3_600_000
const ESTIMATED = {
  limit: 100,
  window: '1d',
  algorithm: 'fixed-window',
  reserve: true,
  hold: '1h',
  cost: ({ headers }: Headers) => Number(headers['x-estimate'] ?? 0),
  settle: ({ headers }: Headers) => Number(headers['x-actual'] ?? 0),
} as const
const FORTY = { headers: { 'x-estimate': '40', 'x-actual': '15' } } as const
const FORTY_RAW = 'GET / HTTP/1.1\r\nHost: a\r\nX-Estimate: 40\r\nX-Actual: 15\r\n\r\n'

/**
 * `reserve`: the estimate of a request is held while its response is in progress. Renewals take real time, which
 * hardly passes here: when the clock has moved by `hold`, it is as if the process had died.
 */
export function reservedTests(world: World): void {
  const { test } = world

  async function expectRemaining(site: RunningSite, remaining: number): Promise<void> {
    await eventually(`${remaining} units are left`, async () => {
      return (await site.send()).remaining === remaining
    })
  }

  test('it is corrected when the response has ended, and then final', async () => {
    const site = await world.start(ESTIMATED)
    expect((await site.send(FORTY)).remaining).toBe(60)
    await expectRemaining(site, 85)
    await site.send({ ...FORTY, method: 'HEAD' })
    await expectRemaining(site, 70)
    await site.send({ headers: { 'x-estimate': '10', 'x-actual': '10' } })
    await expectRemaining(site, 60)
    world.clock.advance(HOLD_MS)
    await expectRemaining(site, 60)
  })

  test('it is back after `hold` if nobody renews it, and charged if it is settled after all', async () => {
    const work = new Work()
    const site = await world.start(ESTIMATED, { work: work.begin })
    const pending = site.send(FORTY)
    await eventually('it is in progress', async () => work.inProgress === 1)
    work.takesTime = false
    await expectRemaining(site, 60)
    const refused = await site.send({ headers: { 'x-estimate': '61' } })
    expect(refused.status).toBe(429)
    world.clock.advance(HOLD_MS)
    await expectRemaining(site, 100)
    work.end()
    await pending
    await expectRemaining(site, 85)
  })

  test('a client that leaves gets nothing back before the application has ended its response', async () => {
    const work = new Work()
    const site = await world.start(ESTIMATED, { work: work.begin })
    const client = openRaw(site.target, FORTY_RAW)
    await eventually('it is in progress', async () => work.inProgress === 1)
    work.takesTime = false
    client.destroy()
    // If its server has not noticed yet, it is charged again when that has.
    world.clock.advance(HOLD_MS)
    await expectRemaining(site, 60)
    world.clock.advance(HOLD_MS)
    await expectRemaining(site, 60)
    work.end()
    await expectRemaining(site, 85)
  })

  test('what another policy refuses is not held, and slots are free with the response', async () => {
    const policies = [
      { name: 'tokens', ...ESTIMATED },
      { name: 'slots', concurrent: 1, hold: '1h' },
      { name: 'rate', limit: 1, window: '1m', algorithm: 'fixed-window' },
    ] as const
    const site = await world.start({ policies })
    const tokens = (field: string | undefined) => field?.match(/"tokens";r=(\d+)/)?.[1]
    expect(tokens((await site.send(FORTY)).field('RateLimit'))).toBe('60')
    for (let i = 0; i < 3; i += 1) expect((await site.send(FORTY)).status).toBe(429)
    world.clock.advance(60_000)
    await eventually('the slot is free', async () => (await site.send()).status === 200)
    world.clock.advance(60_000)
    await eventually('it is settled', async () => {
      const reply = await site.send()
      if (reply.status !== 200) world.clock.advance(60_000)
      return tokens(reply.field('RateLimit')) === '85'
    })
  })
}
