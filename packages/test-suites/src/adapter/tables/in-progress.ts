import { expect } from 'expect'
import { openRaw, sendRaw } from '../client.ts'
import { eventually } from '../eventually.ts'
import type { Reply } from '../reply.ts'
import type { RunningSite, World } from '../world.ts'
import { Work } from './work.ts'

const GET = 'GET / HTTP/1.1\r\nHost: a\r\n'
const TWO = { concurrent: 2, hold: '1h' } as const

/** `concurrent`: so many requests are in progress at the same time. */
export function inProgressTests(world: World): void {
  /** Requests that a test has begun: they end before its server does. */
  const begun: Promise<Reply>[] = []

  const test = (name: string, run: (work: Work) => Promise<void>) =>
    world.test(name, async () => {
      const work = new Work()
      try {
        await run(work)
      } finally {
        work.takesTime = false
        work.end(Number.POSITIVE_INFINITY)
        await Promise.all(begun.splice(0))
      }
    })

  async function untilInProgress(count: number, work: Work): Promise<void> {
    await eventually(`${count} are in progress`, async () => work.inProgress === count)
  }

  /** Starts requests that the limiter admits. */
  async function begin(count: number, site: RunningSite, work: Work): Promise<Promise<Reply>[]> {
    const before = work.inProgress
    const replies = Array.from({ length: count }, () => site.send())
    begun.push(...replies)
    await untilInProgress(before + count, work)
    return replies
  }

  /** Each look is a request that ends at once. */
  async function untilFree(slots: number, site: RunningSite, work: Work): Promise<void> {
    work.takesTime = false
    await eventually(`${slots} slots are free`, async () => {
      return (await site.send()).remaining === slots - 1
    })
    work.takesTime = true
  }

  test('so many are served at the same time; the others are refused, and free nothing', async (work) => {
    const site = await world.start(TWO, { work: work.begin })
    const pending = await begin(2, site, work)
    for (const refused of await site.sendTimes(3)) {
      expect(refused.status).toBe(429)
      expect(refused.field('RateLimit-Policy')).toBe('"default";q=2;qu="concurrent-requests"')
      expect(refused.field('RateLimit')).toBe('"default";r=0')
      expect(refused.field('Retry-After')).toBe('1')
    }
    work.end()
    expect((await Promise.race(pending)).status).toBe(200)
    await untilFree(1, site, work)
    work.end()
    const replies = await Promise.all(pending)
    expect(replies.map(({ remaining }) => remaining).sort()).toEqual([0, 1])
    await untilFree(2, site, work)
  })

  test('a client that leaves frees nothing before the application has ended its response', async (work) => {
    const site = await world.start(TWO, { work: work.begin })
    for (let i = 1; i <= 2; i += 1) {
      const client = openRaw(site.target, `${GET}\r\n`)
      await untilInProgress(i, work)
      client.destroy()
    }
    for (const { status } of await site.sendTimes(5)) expect(status).toBe(429)
    work.end()
    await untilFree(1, site, work)
    work.end()
    await untilFree(2, site, work)
  })

  test('requests of one connection have a slot each', async (work) => {
    const site = await world.start(TWO, { work: work.begin })
    const received = sendRaw(
      site.target,
      `${`${GET}\r\n`.repeat(3)}${GET}Connection: close\r\n\r\n`,
    )
    await untilInProgress(2, work)
    expect((await site.send()).status).toBe(429)
    work.end(2)
    const statuses = (await received).match(/(?<=HTTP\/1\.1 )\d+/g)
    expect(statuses).toEqual(['200', '200', '429', '429'])
    await untilFree(2, site, work)
  })

  test('connections that send nothing, or half a head, have none', async (work) => {
    const site = await world.start(TWO, { work: work.begin })
    const clients = ['', '', GET, GET].map((text) => openRaw(site.target, text))
    await begin(2, site, work)
    for (const client of clients) client.destroy()
  })

  test('what another policy refuses takes no slot', async (work) => {
    work.takesTime = false
    const rate = { name: 'rate', limit: 1, window: '1m', algorithm: 'fixed-window' } as const
    const site = await world.start(
      { policies: [{ name: 'in-flight', ...TWO }, rate] },
      { work: work.begin },
    )
    const statuses = async () => (await site.sendTimes(4)).map(({ status }) => status)
    for (let i = 0; i < 2; i += 1) {
      expect(await statuses()).toEqual([200, 429, 429, 429])
      world.clock.advance(60_000)
    }
  })

  test('how many may depend on the request', async (work) => {
    const concurrent = ({ headers }: { headers: object }) => ('x-paid' in headers ? 2 : 1)
    const site = await world.start({ ...TWO, concurrent }, { work: work.begin })
    await begin(1, site, work)
    expect((await site.send()).status).toBe(429)
    work.takesTime = false
    expect((await site.send({ headers: { 'x-paid': '1' } })).status).toBe(200)
  })

  test('a dry run refuses none', async (work) => {
    const site = await world.start({ ...TWO, dryRun: true }, { work: work.begin })
    const pending = await begin(4, site, work)
    work.end(4)
    for (const { status } of await Promise.all(pending)) expect(status).toBe(200)
    expect(site.decisions.map((decision) => decision?.allowed)).toEqual([true, true, false, false])
  })
}
