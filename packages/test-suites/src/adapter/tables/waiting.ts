import { expect } from 'expect'
import type { World } from '../world.ts'

const QUEUE = { limit: 10, window: '1s', algorithm: 'leaky-bucket', retryAfterJitter: 0 } as const

/** The leaky bucket: admitted requests wait their turn. */
export function waitingTests(world: World): void {
  const { test } = world
  test('requests that come together are served one after the other, at the pace', async () => {
    const site = await world.start(QUEUE)
    const start = performance.now()
    const ends = await Promise.all(
      [1, 2, 3].map(async () => {
        const { status } = await site.send()
        expect(status).toBe(200)
        return performance.now() - start
      }),
    )
    for (const [i, end] of ends.sort((a, b) => a - b).entries())
      expect(end).toBeGreaterThanOrEqual(i * 100)
  })

  test('beyond maxDelay they are refused, and wait as long as the fields say', async () => {
    const site = await world.start({ ...QUEUE, maxDelay: 0 })
    const replies = await site.sendTimes(2)
    expect(replies.map(({ status }) => status)).toEqual([200, 429])
    expect(replies[1]?.field('Retry-After')).toBe('1')
    world.clock.advance(100)
    expect((await site.send()).status).toBe(200)
  })

  test('without a place to wait in a request is refused, and is not charged', async () => {
    const site = await world.start({ ...QUEUE, maxWaiting: 0 })
    const statuses = (await site.sendTimes(3)).map(({ status }) => status)
    expect(statuses).toEqual([200, 429, 429])
    world.clock.advance(100)
    expect((await site.send()).status).toBe(200)
  })

  test('dryRun delays no request', async () => {
    const site = await world.start({ ...QUEUE, limit: 1, maxDelay: '1h', dryRun: true })
    expect((await site.sendTimes(3)).map(({ status }) => status)).toEqual([200, 200, 200])
  })
}
