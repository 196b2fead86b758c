import { expect } from 'expect'
import { eventually } from '../eventually.ts'
import { warned } from '../warnings.ts'
import type { RunningSite, World } from '../world.ts'

type Headers = { headers: Record<string, unknown> }

const OPTIONS = {
  limit: 100,
  window: '1m',
  algorithm: 'fixed-window',
  cost: ({ headers }: Headers) => Number(headers['x-estimate'] ?? 0),
  settle: async ({ headers }: Headers) => Number(headers['x-actual'] ?? headers['x-estimate'] ?? 0),
} as const

/** `settle`: an estimate is charged first, and corrected to the actual cost at the end. */
export function settleTests(world: World): void {
  const { test } = world
  async function expectRemaining(site: RunningSite, remaining: number): Promise<void> {
    await eventually(`${remaining} units are left`, async () => {
      return (await site.send()).remaining === remaining
    })
  }

  test('what was too much is given back', async () => {
    const site = await world.start(OPTIONS)
    const reply = await site.send({ headers: { 'x-estimate': '60', 'x-actual': '15' } })
    expect(reply.remaining).toBe(40)
    await expectRemaining(site, 85)
  })

  test('what was too little is charged, into debt if necessary', async () => {
    const site = await world.start(OPTIONS)
    await site.send({ headers: { 'x-estimate': '10', 'x-actual': '250' } })
    await eventually('the debt refuses', async () => (await site.send()).status === 429)
    world.clock.advance(60_000)
    await expectRemaining(site, 100)
  })

  test('a refused request is not settled', async () => {
    const site = await world.start(OPTIONS)
    await site.send({ headers: { 'x-estimate': '101', 'x-actual': '0' } })
    await site.send({ headers: { 'x-estimate': '30', 'x-actual': '20' } })
    await expectRemaining(site, 80)
  })

  for (const actual of ['-1', 'nonsense', '1.5'] as const)
    test(`${actual} is no cost: the estimate remains`, async () => {
      const site = await world.start(OPTIONS)
      await site.send({ headers: { 'x-estimate': '30', 'x-actual': actual } })
      // Settled in order: once this one is, the other has been tried.
      await site.send({ headers: { 'x-estimate': '20', 'x-actual': '10' } })
      await expectRemaining(site, 60)
      expect(warned('SLUICE_SETTLE')).toBe(1)
    })
}
