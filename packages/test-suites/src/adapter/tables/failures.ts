import type { Decision } from '@sluice/core'
import { expect } from 'expect'
import type { Reply } from '../reply.ts'
import type { World } from '../world.ts'

const OPTIONS = { limit: 2, window: '1h', deadline: 50 } as const
const TYPES = 'https://iana.org/assignments/http-problem-types#'
const statuses = (replies: readonly Reply[]) => replies.map(({ status }) => status)

/** A remote store that hangs or fails, as clients see it. */
export function failureTests(world: World): void {
  const { test } = world

  test('a store that hangs does not hang the request', async () => {
    const store = world.failingStore()
    const site = await world.start({ ...OPTIONS, store })
    expect((await site.send()).status).toBe(200)
    store.hang()
    const startedAt = performance.now()
    expect(statuses(await site.sendTimes(2))).toEqual([200, 429])
    expect(performance.now() - startedAt).toBeLessThan(10_000)
    expect(site.decisions.map((decision) => decision?.source)).toEqual(['store', 'local'])
  })

  test('is limited by this process, with the same fields', async () => {
    const store = world.failingStore()
    const site = await world.start({ ...OPTIONS, algorithm: 'fixed-window', store })
    const [before] = await site.sendTimes(1)
    store.fail()
    const [last, refused] = await site.sendTimes(2)
    expect(before?.field('RateLimit')).toBe('"default";r=1;t=3600')
    expect(last?.field('RateLimit')).toBe('"default";r=0;t=3600')
    expect(last?.field('RateLimit-Policy')).toBe(before?.field('RateLimit-Policy'))
    expect(refused?.status).toBe(429)
    expect(refused?.seconds('Retry-After')).toBeGreaterThanOrEqual(3600)
    expect(site.errors).toEqual([])
  })

  test("with onStoreError: 'deny' an outage is a 503 with its own body, not a 429", async () => {
    const store = world.failingStore()
    const decisions: Decision[] = []
    const onDecision = (decision: Decision) => void decisions.push(decision)
    const site = await world.start({ ...OPTIONS, store, onStoreError: 'deny', onDecision })
    store.fail(new Error('ECONNREFUSED 10.0.0.1:6379'))
    const refused = await site.send()
    expect(refused.status).toBe(503)
    expect(refused.seconds('Retry-After')).toBeGreaterThanOrEqual(5)
    expect(refused.field('Cache-Control')).toBe('no-store')
    expect(refused.field('Content-Type')).toMatch(/^application\/problem\+json/)
    expect(JSON.parse(refused.body)).toEqual({
      type: `${TYPES}temporary-reduced-capacity`,
      title: 'Temporary Reduced Capacity',
      status: 503,
    })
    for (const name of ['RateLimit', 'RateLimit-Policy', 'RateLimit-Limit'])
      expect(refused.field(name)).toBeUndefined()
    expect(decisions).toMatchObject([{ allowed: false, source: 'deny', policies: [] }])
  })

  test("with onStoreError: 'allow' requests pass, without fields, because their values are unknown", async () => {
    const store = world.failingStore()
    const site = await world.start({ ...OPTIONS, limit: 0, store, onStoreError: 'allow' })
    store.fail()
    const reply = await site.send()
    expect([reply.status, reply.field('RateLimit')]).toEqual([200, undefined])
    expect(site.decisions).toMatchObject([{ allowed: true, source: 'allow' }])
  })

  test('stacked limiters may have different failure modes', async () => {
    const store = world.failingStore()
    const open = { ...OPTIONS, store, onStoreError: 'allow' } as const
    const site = await world.start([open, { ...OPTIONS, store, onStoreError: 'deny', limit: 9 }])
    store.fail()
    expect((await site.send()).status).toBe(503)
  })

  test('a dry run refuses no request even then', async () => {
    const store = world.failingStore()
    const site = await world.start({ ...OPTIONS, store, onStoreError: 'deny', dryRun: true })
    store.fail()
    expect((await site.send()).status).toBe(200)
    expect(site.decisions).toMatchObject([{ allowed: false, source: 'deny' }])
  })

  test('what only this process has admitted is settled only here', async () => {
    const store = world.failingStore()
    const site = await world.start({ ...OPTIONS, limit: 10, store, cost: 5, settle: () => 1 })
    store.fail()
    const replies = await site.sendTimes(4)
    expect(statuses(replies)).toEqual([200, 200, 200, 200])
    store.recover()
    const calls = store.calls
    await site.send()
    expect(site.decisions.at(-1)).toMatchObject({ source: 'store', remaining: 5 })
    expect(store.calls).toBeGreaterThan(calls)
  })

  test('a refused client that keeps sending causes no calls to the store', async () => {
    const store = world.failingStore()
    const site = await world.start({ ...OPTIONS, store })
    await site.sendTimes(3)
    const calls = store.calls
    const again = await site.sendTimes(5)
    expect(statuses(again)).toEqual([429, 429, 429, 429, 429])
    expect(store.calls).toBe(calls)
    world.clock.advance(1000)
    const later = await site.send()
    expect(later.seconds('RateLimit-Reset')).toBe((again[0]?.seconds('RateLimit-Reset') ?? 0) - 1)
  })
}
