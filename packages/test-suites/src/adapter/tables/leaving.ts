import { setTimeout as delay } from 'node:timers/promises'
import { expect } from 'expect'
import { openRaw } from '../client.ts'
import { eventually } from '../eventually.ts'
import type { RunningSite, World } from '../world.ts'
import { Streams } from './streams.ts'

const CHUNKS = 10
/** A machine may stand still for a second, and a process that does so for as long has lost its slots. */
const HOLD_MS = 4000

const CASES = [0, 50].flatMap((estimate) =>
  [false, true].map((answersLate) => ({
    name: `${answersLate ? 'before there is a response' : 'in the middle of a stream'}, estimate ${estimate}`,
    estimate,
    answersLate,
  })),
)

/** Clients that leave while the application works for them: it goes on, and does not look. */
export function leavingTests(world: World): void {
  world.test(
    'each keeps its slot, and pays for all of it, whenever it leaves and whatever is estimated',
    async () => {
      const left = await Promise.all(CASES.map((each) => leaveAll(world, each)))
      await eventually('all is charged and all slots are free', async () => {
        world.clock.advance(HOLD_MS)
        // A slot that is still renewed is renewed meanwhile.
        await delay(HOLD_MS / 2)
        const isFree = await Promise.all(left.map(({ site }) => isCharged(site)))
        return isFree.every(Boolean)
      })
      for (const { name, streams } of left)
        expect([name, streams.most, streams.settled < 60]).toEqual([name, 2, true])
    },
  )
}

/** Six clients leave, two of which the application has served. */
async function leaveAll(world: World, { name, estimate, answersLate }: (typeof CASES)[number]) {
  const streams = new Streams(CHUNKS)
  const site = await world.start(streams.options({ estimate, hold: HOLD_MS }), {
    work: streams.work,
    chunks: streams.chunks,
  })
  streams.answersLate = answersLate
  for (let id = 1; id <= 6; id += 1) await leaveEarly(id, site, streams)
  expect([name, streams.most, (await site.send()).status]).toEqual([name, 2, 429])
  streams.goOn()
  await eventually(`the application is done: ${name}`, async () => streams.atOnce === 0)
  expect([name, streams.produced]).toEqual([name, 2 * CHUNKS])
  streams.isShort = true
  return { name, site, streams }
}

/** Whether one more request is served, all chunks are paid for, and no slot is in use. */
async function isCharged(site: RunningSite): Promise<boolean> {
  const reply = await site.send()
  return (
    reply.status === 200 &&
    reply.field('RateLimit')?.includes(`"tokens";r=${1000 - 2 * CHUNKS}`) === true &&
    reply.field('RateLimit')?.includes('"slots";r=1') === true
  )
}

/** Sends a request, and leaves when the application has begun, or the limiter has refused. */
async function leaveEarly(id: number, { target }: RunningSite, streams: Streams): Promise<void> {
  const before = streams.begun
  const socket = openRaw(target, `GET / HTTP/1.1\r\nHost: a\r\nX-Id: ${id}\r\n\r\n`)
  let received = ''
  socket.setEncoding('latin1').on('data', (text) => {
    received += text
  })
  await eventually('the response has begun', async () => {
    const hasBegun = streams.answersLate ? streams.begun > before : received.includes('chunk')
    return hasBegun || received.startsWith('HTTP/1.1 429')
  })
  socket.destroy()
}
