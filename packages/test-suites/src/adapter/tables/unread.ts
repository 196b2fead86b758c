import type { Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { Duration } from '@sluice/core'
import { expect } from 'expect'
import { openRaw } from '../client.ts'
import { eventually } from '../eventually.ts'
import type { RunningSite, World } from '../world.ts'
import { Streams } from './streams.ts'

/** Responses that nobody reads: they hold nothing once the application is done. */
export function unreadTests(world: World): void {
  const { test } = world

  test('a text is done when the application has given it', async () => {
    const site = await world.start({ concurrent: 2, hold: '1h' }, { body: 'x'.repeat(10_000_000) })
    const clients = [neverRead(site), neverRead(site)]
    await eventually('both are answered', async () => site.decisions.length === 2)
    await eventually('their slots are free', async () => {
      return (await site.send({ method: 'HEAD' })).field('RateLimit') === '"default";r=1'
    })
    for (const each of clients) each.destroy()
  })

  test('HEAD asks for no body', async () => {
    const site = await world.start({ concurrent: 1, hold: '1h' })
    for (let i = 0; i < 3; i += 1)
      await eventually('the slot is free', async () => {
        return (await site.send({ method: 'HEAD' })).status === 200
      })
  })

  test('a stream is settled when it is done, or `hold` after its last bytes, not for ever', async () => {
    // Together: each of them waits for seconds.
    await Promise.all((['1s', '1h'] as const).map((window) => readsNothing(window)))
  })

  async function readsNothing(window: Duration): Promise<void> {
    const of = (what: string) => `${what}, with a window of ${window}`
    const streams = new Streams(100, 'x'.repeat(64_000))
    const site = await world.start(streams.options({ window }), {
      work: streams.work,
      chunks: streams.chunks,
      realTime: true,
    })
    streams.goOn()
    const client = neverRead(site)
    await eventually(of('the stream has begun'), async () => streams.produced > 0)
    streams.isShort = true
    await eventually(of('both slots are free'), async () => {
      return (await site.send()).field('RateLimit')?.includes('"slots";r=1') === true
    })
    await eventually(of('the stream is settled'), async () => streams.settled > 0)
    const before = streams.settled
    await delay(1500)
    expect([window, streams.settled - before < 5]).toEqual([window, true])
    client.destroy()
  }
}

function neverRead({ target }: RunningSite): Socket {
  return openRaw(target, 'GET / HTTP/1.1\r\nHost: a\r\nX-Id: 1\r\n\r\n')
}
