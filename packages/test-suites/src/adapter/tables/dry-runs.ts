import { expect } from 'expect'
import { eventually } from '../eventually.ts'
import type { World } from '../world.ts'

type Headers = { headers: Record<string, unknown> }

const BURST = { name: 'burst', limit: 5, window: '1m' } as const
const NEW = { name: 'new', limit: 2, window: '1h', dryRun: true } as const

/** Policies that count and report, and refuse nothing. */
export function dryRunTests(world: World): void {
  const { test } = world
  const client = (id: string) => ({ headers: { 'x-user': id } })

  test('a policy that is a dry run refuses nothing, and the others decide as without it', async () => {
    const site = await world.start({ policies: [BURST, NEW] })
    const replies = await site.sendTimes(6)
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 429])
    expect(JSON.parse(replies[5]?.body as string)['violated-policies']).toEqual(['burst'])
    expect(site.decisions.map((each) => each?.policies.map(({ allowed }) => allowed))).toEqual([
      [true, true],
      [true, true],
      [true, false],
      [true, false],
      [true, false],
    ])
    expect(site.decisions.map((each) => each?.remaining)).toEqual([4, 3, 2, 1, 0])
  })

  test('what refuses a request charges no dry run', async () => {
    const site = await world.start({
      policies: [
        { ...BURST, limit: 1 },
        { ...NEW, limit: 9 },
      ],
    })
    await site.sendTimes(5)
    world.clock.advance(2 * 60_000)
    await site.send()
    expect(site.decisions.at(-1)?.policies[1]).toMatchObject({ remaining: 7, dryRun: true })
  })

  test('header fields list it only with the profile dry-run', async () => {
    const hidden = await world.start({ policies: [NEW, BURST] })
    const [, , third, , , sixth] = await hidden.sendTimes(6)
    expect(third?.field('RateLimit')).toMatch(/^"burst";r=2;t=\d+$/)
    expect(third?.field('RateLimit-Policy')).toBe('"burst";q=5;w=60')
    expect(sixth?.field('RateLimit')).toMatch(/^"burst";r=0;t=\d+$/)
    expect(JSON.parse(sixth?.body as string)['violated-policies']).toEqual(['burst'])
    const shown = await world.start({ policies: [NEW, BURST], headers: ['draft-11', 'dry-run'] })
    const [, , listed] = await shown.sendTimes(3)
    expect(listed?.field('RateLimit')).toMatch(/^"new";r=0;t=\d+, "burst";r=2;t=\d+$/)
    const [, , refused] = await shown.sendTimes(3)
    expect(refused?.field('RateLimit')).toMatch(/^"burst";r=0;t=\d+$/)
    expect(JSON.parse(refused?.body as string)['violated-policies']).toEqual(['burst'])
    const alone = await world.start({ policies: [NEW] })
    expect((await alone.send()).field('RateLimit')).toBeUndefined()
  })

  test('enforce: header fields list the policy to the clients that it refuses', async () => {
    const policies = [{ ...BURST, name: 'new', enforce: 0.5 }, BURST]
    const named = await world.start({ key: 'user', policies, headers: 'draft-11' })
    const counted = await world.start({ key: 'user', policies, headers: 'draft-6' })
    const isListed: boolean[] = []
    for (let id = 0; id < 10; id += 1) {
      const reply = await named.send(client(`${id}`))
      const isDry = named.decisions.at(-1)?.policies[0]?.dryRun
      const burst = '"burst";q=5;w=60'
      expect(reply.field('RateLimit-Policy')).toBe(isDry ? burst : `"new";q=5;w=60, ${burst}`)
      isListed.push(!isDry)
      expect((await counted.send(client(`${id}`))).field('RateLimit-Policy')).toBe('5;w=60')
    }
    expect(new Set(isListed).size).toBe(2)
  })

  test('enforce: a share of the clients, and a larger share only adds some', async () => {
    const refused = async (enforce: number) => {
      const site = await world.start({ key: 'user', limit: 0, window: '1h', enforce })
      const found = new Set<number>()
      for (let id = 0; id < 100; id += 1)
        if ((await site.send(client(`${id}`))).status === 429) found.add(id)
      return found
    }
    const [tenth, half] = [await refused(0.1), await refused(0.5)]
    expect([(await refused(0)).size, (await refused(1)).size]).toEqual([0, 100])
    expect(tenth.size).toBeGreaterThan(2)
    expect(tenth.size).toBeLessThan(22)
    expect(half.size).toBeGreaterThan(tenth.size)
    for (const id of tenth) expect(half).toContain(id)
  })

  test('what it would refuse is not settled', async () => {
    const site = await world.start({
      policies: [
        { name: 'all', limit: 1000, window: '1h' },
        { ...NEW, limit: 10, algorithm: 'fixed-window' },
      ],
      cost: ({ headers }: Headers) => Number(headers['x-cost'] ?? 0),
      settle: () => 3,
    })
    await site.send({ headers: { 'x-cost': '20' } })
    await eventually('the other policy is settled', async () => {
      await site.send()
      return (site.decisions.at(-1)?.policies[0]?.remaining as number) <= 994
    })
    const [first, ...later] = site.decisions.map((each) => each?.policies[1])
    expect(first).toMatchObject({ allowed: false, remaining: 10 })
    // Each of the others, which are free at first, turned out to cost 3.
    for (const [i, each] of later.entries())
      expect(each?.remaining).toBeGreaterThanOrEqual(10 - 3 * i)
  })

  test('a slot that it would refuse is not held', async () => {
    let end = () => {}
    const ended = new Promise<void>((resolve) => {
      end = resolve
    })
    const site = await world.start(
      { policies: [BURST, { name: 'few', concurrent: 1, dryRun: true }] },
      { work: () => ended },
    )
    const sent = Array.from({ length: 3 }, () => site.send())
    await eventually('all have reached the application', async () => site.decisions.length === 3)
    end()
    expect((await Promise.all(sent)).map(({ status }) => status)).toEqual([200, 200, 200])
    const few = site.decisions.map((each) => each?.policies[1]?.allowed)
    expect(few.filter((allowed) => !allowed)).toHaveLength(2)
  })

  test('a queue that it would fill delays nobody', async () => {
    const queue = { name: 'queue', algorithm: 'leaky-bucket', limit: 1, window: '1h' } as const
    const policies = [{ ...queue, maxDelay: '10h', dryRun: true } as const, BURST]
    const site = await world.start({ policies })
    const replies = await site.sendTimes(3)
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200])
  })

  test('a ban does not count what it would refuse', async () => {
    const ban = { after: 1, within: '1h', for: ['1h'] } as const
    const site = await world.start({ policies: [{ ...NEW, limit: 0 }, BURST], ban })
    const replies = await site.sendTimes(4)
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 200])
  })
}
