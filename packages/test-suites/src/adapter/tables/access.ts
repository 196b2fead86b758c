import type { Decision } from '@sluice/core'
import { expect } from 'expect'
import type { World } from '../world.ts'

const ONCE = { limit: 1, window: '1m' } as const
const DENIED = { type: 'about:blank', title: 'Forbidden', status: 403 }

/** Clients that no policy decides. */
export function accessTests(world: World): void {
  const { test } = world
  for (const entry of ['127.0.0.1', '127.0.0.0/8', '::ffff:127.0.0.0/104'] as const)
    test(`allow ${entry}: never limited, not counted, no fields`, async () => {
      const heard: string[] = []
      const onDecision = ({ source }: Decision) => void heard.push(source)
      const site = await world.start({ ...ONCE, allow: [entry], onDecision })
      for (const reply of await site.sendTimes(3))
        expect([reply.status, reply.limitFields()]).toEqual([200, {}])
      expect(site.keys).toEqual([])
      expect(site.decisions).toEqual(Array(3).fill(expect.objectContaining({ source: 'allow' })))
      expect(heard).toEqual(Array(3).fill('allow'))
    })

  test('deny: always 403, with a body and without Retry-After', async () => {
    const heard: Decision[] = []
    const onDecision = (decision: Decision) => void heard.push(decision)
    const site = await world.start({ ...ONCE, deny: ['127.0.0.1'], onDecision })
    const reply = await site.send()
    expect([reply.status, JSON.parse(reply.body)]).toEqual([403, DENIED])
    expect(heard).toEqual([
      expect.objectContaining({ allowed: false, source: 'deny', retryAfterMs: Infinity }),
    ])
    expect(reply.limitFields()).toEqual({})
    expect(reply.field('Content-Type')).toMatch(/^application\/problem\+json(;|$)/)
    expect(reply.field('Cache-Control')).toBe('no-store')
    expect([site.keys, site.decisions]).toEqual([[], []])
  })

  test('keys are on the lists too, and deny goes before allow', async () => {
    const site = await world.start({
      ...ONCE,
      key: 'user',
      allow: ['user:admin', 'user:mallory'],
      deny: ['user:mallory'],
    })
    const statuses: number[] = []
    for (const user of ['admin', 'admin', 'mallory', 'alice', 'alice'])
      statuses.push((await site.send({ headers: { 'x-user': user } })).status)
    expect(statuses).toEqual([200, 200, 403, 200, 429])
  })

  test('an address is found however it is written', async () => {
    const site = await world.start(
      { ...ONCE, limit: 100, deny: ['203.0.113.0/24', '2001:db8::/32'] },
      { trustProxy: '127.0.0.1' },
    )
    const statuses: number[] = []
    for (const address of [
      '::ffff:cb00:7107',
      '203.0.113.7:80',
      '[2001:DB8:9::1]:443',
      '203.0.114.7',
    ])
      statuses.push((await site.send({ headers: { 'X-Forwarded-For': address } })).status)
    expect(statuses).toEqual([403, 403, 403, 200])
  })

  test('dryRun denies no request', async () => {
    const site = await world.start({ ...ONCE, deny: ['127.0.0.1'], dryRun: true })
    expect((await site.send()).status).toBe(200)
  })
}
