import { setTimeout as delay } from 'node:timers/promises'
import { expect } from 'expect'
import { openRaw } from '../client.ts'
import { eventually } from '../eventually.ts'
import type { RunningSite, World } from '../world.ts'
import { Streams } from './streams.ts'

const CHUNKS = 10

/** Clients that leave while the application works for them: it goes on, and does not look. */
export function leavingTests(world: World): void {
  const { test } = world
  for (const estimate of [0, 50])
    for (const moment of ['in the middle of a stream', 'before there is a response'] as const)
      test(`${moment}, estimate ${estimate}: each keeps its slot, and pays for all of it`, async () => {
        const streams = new Streams(CHUNKS)
        const site = await world.start(streams.options({ estimate }), {
          work: streams.work,
          chunks: streams.chunks,
        })
        if (moment === 'before there is a response') streams.answersLate = true
        for (let id = 1; id <= 6; id += 1) await leaveEarly(id, site, streams)
        expect(streams.most).toBe(2)
        expect((await site.send()).status).toBe(429)
        streams.goOn()
        await eventually('the application is done', async () => streams.atOnce === 0)
        expect(streams.produced).toBe(2 * CHUNKS)
        streams.isShort = true
        await eventually('all is charged and all slots are free', async () => {
          world.clock.advance(1000)
          // What is still renewed is renewed meanwhile.
          await delay(500)
          const reply = await site.send()
          return (
            reply.status === 200 &&
            reply.field('RateLimit')?.includes(`"tokens";r=${1000 - 2 * CHUNKS}`) === true &&
            reply.field('RateLimit')?.includes('"slots";r=1') === true
          )
        })
        expect([streams.most, streams.settled < 60]).toEqual([2, true])
      })
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
