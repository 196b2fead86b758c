// What the page shows of live policies and does to them, beside an application whose limits it changes.

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { createLimiter, type Documents, type Limiter, redisStore } from '@sluice/core'
import { patient, type RedisServer, startRedis } from '@sluice/test-harness/redis'
import { Redis } from 'ioredis'
import { connect } from '../connect.ts'
import type { Connection } from '../connection.ts'
import { Ranker } from '../ranking.ts'
import { type PoliciesSnapshot, PolicyWatch } from './policy-watch.ts'

let redis: RedisServer
let client: Redis
let connection: Connection
let watch: PolicyWatch
const limiters: Limiter<'async'>[] = []
beforeAll(async () => {
  redis = await startRedis()
  client = new Redis(redis.url)
})
afterAll(async () => {
  client?.disconnect()
  await redis.stop()
})
beforeEach(async () => {
  await redis.command('FLUSHALL')
  connection = await connect({ redis: redis.url })
  watch = new PolicyWatch(connection.store, 'sluice', false)
})
afterEach(() => {
  connection.close()
  for (const limiter of limiters.splice(0)) limiter.close()
})

const API = { name: 'api', limit: 5, window: '1h', live: true } as const

/** An application that has counted clients: its policies are in the store. */
async function application(options: object = {}): Promise<Limiter<'async'>> {
  const store = redisStore(client)
  const limiter = createLimiter({ ...patient, store, ...API, ...options })
  limiters.push(limiter)
  const take = 'concurrent' in options ? limiter.acquire : limiter.consume
  for (const key of ['ada', 'bob']) await take.call(limiter, key)
  // It waits until they are.
  for await (const { prefix } of store.inspect()) expect(prefix).toBe('sluice')
  return limiter
}

/** A reading of the store, as the page makes it. */
async function look(of = watch): Promise<PoliciesSnapshot> {
  await of.read()
  const counter = await of.counter()
  const ranker = new Ranker(connection.store, {}, 5)
  await ranker.rank('share', new AbortController().signal, undefined, (entry) =>
    counter?.add(entry),
  )
  of.keep(counter)
  return of.look()
}

const change = async (given: object) => {
  const { seen } = watch.look()
  await watch.change({ policy: 'api', by: 'eve', seen, ...given })
  return watch.look()
}
const MOMENT = '\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d UTC'

it('shows nothing where there is no live policy', async () => {
  await application({ live: undefined })
  expect(await look()).toMatchObject({ seen: 0, count: 0, cards: [], history: [] })
})

it('shows what is in force, and who is refused', async () => {
  const limiter = await application()
  await limiter.consume('ada', { cost: 4 })
  expect((await look()).cards).toEqual([
    {
      ...{ id: 'api', name: 'api', limit: 5, isSet: false, problem: undefined },
      inForce: '5 per 1 h (sliding-window)',
      details: ['as in the code'],
      clients: { counted: 2, refused: 1, wouldRefuse: 0, unknown: 0, own: 0 },
    },
  ])
})

it('sets a limit for a time, a dry run and a share, and goes back', async () => {
  await application()
  await look()
  const limited = await change({ action: 'limit', value: '20', duration: '1h' })
  expect(limited).toMatchObject({ seen: 1, cards: [{ limit: 20, isSet: true }] })
  expect(limited.cards[0]?.details).toEqual([
    expect.stringMatching(new RegExp(`^set: limit 20, until ${MOMENT}$`)),
    expect.stringMatching(/^last change: 1, set by eve \(page on .+\), /),
  ])
  const dry = await change({ action: 'dry-run' })
  expect(dry.cards[0]?.inForce).toBe('20 per 1 h (sliding-window; 5 in the code), a dry run')
  const share = await change({ action: 'enforce', value: '12.5' })
  expect(share.cards[0]?.inForce).toContain('refuses 12.5 % of the clients')
  const code = await change({ action: 'unset' })
  expect(code).toMatchObject({ seen: 4, cards: [{ limit: 5, isSet: false }] })
  const back = await change({ action: 'rollback', number: 3 })
  expect(back.cards[0]?.inForce).toContain('a dry run')
  const [last] = back.history
  expect(last).toMatchObject({ number: 5, head: expect.stringMatching(/^5, rollback by eve/) })
  expect(last?.undone).toEqual([expect.stringMatching(/^api: .* → as in the code$/)])
})

it('sets the slots of a policy that counts requests in progress', async () => {
  await application({ limit: undefined, window: undefined, concurrent: 3 })
  await look()
  const { cards } = await change({ action: 'limit', value: '7' })
  expect(cards[0]?.inForce).toBe('7 at a time (concurrency; 3 in the code)')
})

it('changes nothing that somebody else has changed since, and shows what that is', async () => {
  const limiter = await application()
  await look()
  await limiter.policies.set('api', { limit: 9 }, { by: 'bob' })
  await expect(change({ action: 'limit', value: '20' })).rejects.toMatchObject({
    code: 'SLUICE_POLICY_CHANGED',
    message: expect.stringContaining('by bob'),
  })
  expect(watch.look()).toMatchObject({ seen: 1, cards: [{ limit: 9 }] })
  expect((await change({ action: 'limit', value: '20' })).cards[0]?.limit).toBe(20)
})

it('takes a change between its two readings for one that nobody has seen', async () => {
  const limiter = await application()
  const { store } = connection
  const documents = store.documents as Documents<'async'>
  let readings = 0
  const late: Documents<'async'> = {
    async read(prefix, name, known) {
      if (name === 'policies') readings += 1
      if (name === 'policies' && readings === 2)
        await limiter.policies.set('api', { limit: 9 }, { by: 'bob' })
      return documents.read(prefix, name, known)
    },
    replace: (...given) => documents.replace(...given),
  }
  watch = new PolicyWatch(Object.create(store, { documents: { value: late } }), 'sluice', false)
  await look()
  await expect(change({ action: 'limit', value: '20' })).rejects.toMatchObject({
    code: 'SLUICE_POLICY_CHANGED',
  })
})

it('counts nothing of policies whose keys --policy leaves out', async () => {
  await application()
  const filtered = new PolicyWatch(connection.store, 'sluice', true)
  await filtered.read()
  filtered.keep(await filtered.counter())
  expect(filtered.look().cards).toMatchObject([{ name: 'api', clients: undefined }])
})

it('a name and a person are text, whatever they say', async () => {
  const limiter = await application()
  await limiter.policies.set('api', { limit: 9 }, { by: '<script>\u001b' })
  const name = '<img src=x onerror=alert(1)>\u001b[2J\u202e/%,"'
  const key = 'sluice:{#}:keyspaces'
  const kept = (await client.get(key)) as string
  await client.set(key, kept.replace('live=api,', `live=${encodeURIComponent(name)},`))
  const { cards, history } = await look()
  expect(cards).toMatchObject([{ name, id: encodeURIComponent(name), limit: 5 }])
  expect(history[0]?.head).toContain('<script>')
  const { cards: changed } = await change({ policy: cards[0]?.id, action: 'limit', value: '20' })
  expect(changed).toMatchObject([{ name, limit: 20 }])
})

it('a document that nobody can read is shown as that, and can be replaced', async () => {
  await application()
  await client.set('sluice:{#}:policies', '0123456789abcdef\n{"form":7}')
  expect((await look()).cards).toMatchObject([
    { limit: 5, problem: expect.stringContaining('its form is 7') },
  ])
  expect((await change({ action: 'limit', value: '20' })).cards).toMatchObject([
    { limit: 20, problem: undefined },
  ])
})

it('of many policies and changes it shows some, and says that there are more', async () => {
  const all: Record<string, object> = {}
  for (const name of ['a', 'b', 'c', 'd']) {
    const policies = Array.from({ length: 32 }, (_, i) => {
      return { name: `${name}${i}`, limit: 5, window: '1h', live: true }
    })
    await application({ name, policies, limit: undefined, window: undefined, live: undefined })
    for (const each of policies) all[`${name}/${each.name}`] = { limit: 7 }
  }
  const { policies } = limiters[0] as Limiter<'async'>
  for (let i = 0; i < 24; i += 1) await policies.set('a/a0', { limit: 10 + i })
  await policies.apply(all)
  const { count, cards, history } = await look()
  expect([count, cards.length, history.length]).toEqual([128, 100, 20])
  expect(history[0]?.lines).toHaveLength(6)
  expect(history[0]?.lines.at(-1)).toBe('and 123 more')
})

describe('what is wrong is refused', () => {
  it.each<[object, RegExp]>([
    [{}, /expected an action/],
    [{ action: 'constructor' }, /expected an action/],
    [{ action: 'limit' }, /--limit: expected units/],
    [{ action: 'limit', value: '1e300' }, /--limit: expected units/],
    [{ action: 'limit', value: 5 }, /expected text/],
    [{ action: 'limit', value: '5', duration: '100y' }, /for/],
    [{ action: 'limit', value: '5', duration: { ms: 5 } }, /expected text/],
    [{ action: 'enforce', value: '101' }, /--enforce: expected a share/],
    [{ action: 'enforce', value: '' }, /--enforce: expected a share/],
    [{ action: 'limit', value: '5', policy: 'apo' }, /one of api/],
    [{ action: 'limit', value: '5', policy: '%' }, /the name of a policy/],
    [{ action: 'limit', value: '5', policy: ['api'] }, /the name of a policy/],
    [{ action: 'limit', value: '5', by: {} }, /expected text/],
    [{ action: 'limit', value: '5', seen: undefined }, /the number of a change/],
    [{ action: 'limit', value: '5', seen: '0' }, /the number of a change/],
    [{ action: 'rollback', number: 'x' }, /the number of a change/],
    [{ action: 'rollback', number: 99 }, /a change that is remembered/],
    [{ action: 'rollback' }, /the number of a change/],
  ])('%j', async (given, message) => {
    await application()
    await look()
    await expect(change(given)).rejects.toThrow(message)
    expect((await look()).history).toEqual([])
  })
})
