import type { Decision } from '@sluice/core'
import { expect } from 'expect'
import type { World } from '../world.ts'

const OPTIONS = { limit: 2, window: '1m', algorithm: 'fixed-window' } as const

/** The decisions that the application reads. */
export function decisionTests(world: World): void {
  const { test } = world
  test('the request holds the decision', async () => {
    const site = await world.start(OPTIONS)
    await site.send()
    expect(site.decisions).toEqual([
      expect.objectContaining({
        allowed: true,
        limit: 2,
        remaining: 1,
        resetMs: 60_000,
        retryAfterMs: 0,
        delayMs: 0,
        source: 'store',
        policies: [expect.objectContaining({ name: 'default', windowMs: 60_000, remaining: 1 })],
      }),
    ])
  })

  test('onDecision gets every decision, with the request', async () => {
    const reported: [boolean, string | undefined][] = []
    const site = await world.start({
      ...OPTIONS,
      onDecision: ({ allowed }, { url }) => void reported.push([allowed, url]),
    })
    for (const path of ['/?1', '/?2', '/?3']) await site.send({ path })
    expect(reported).toEqual([
      [true, '/?1'],
      [true, '/?2'],
      [false, '/?3'],
    ])
  })

  test('dryRun never refuses and sends no field, but counts and reports', async () => {
    const reported: Decision[] = []
    const site = await world.start({
      ...OPTIONS,
      dryRun: true,
      respond: () => {
        throw new Error('no request may be refused')
      },
      onDecision: (decision) => void reported.push(decision),
    })
    for (const reply of await site.sendTimes(4)) {
      expect([reply.status, reply.body]).toEqual([200, 'served'])
      expect(reply.limitFields()).toEqual({})
      expect(reply.all('Cache-Control')).toEqual([])
    }
    expect(reported.map(({ allowed }) => allowed)).toEqual([true, true, false, false])
    expect(site.decisions).toEqual(reported)
  })

  test('a wrong option is refused at construction', async () => {
    await expect(world.start({ ...OPTIONS, skip: true } as never)).rejects.toMatchObject({
      name: 'SluiceError',
      option: 'skip',
    })
  })
}
