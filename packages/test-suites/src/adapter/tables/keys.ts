import { inspect } from 'node:util'
import { expect } from 'expect'
import { warned } from '../warnings.ts'
import { WAYS } from '../ways.ts'
import type { World } from '../world.ts'

const OPTIONS = { limit: 100, window: '1m' } as const

/** The keys of a request: options that are functions of it. */
export function keyTests(world: World): void {
  const { test } = world
  for (const [given, give] of WAYS)
    test(`key function, ${given}`, async () => {
      const key = ({ headers }: { headers: Record<string, unknown> }) =>
        give(`tenant:${headers['x-tenant']}`)
      const site = await world.start({ limit: 1, window: '1m', key })
      const statuses: number[] = []
      for (const tenant of ['a', 'b', 'a'])
        statuses.push((await site.send({ headers: { 'x-tenant': tenant } })).status)
      expect(statuses).toEqual([200, 200, 429])
      expect(site.keys).toEqual(['key:tenant:a', 'key:tenant:b', 'key:tenant:a'])
    })

  for (const [given, give] of WAYS)
    test(`user function, ${given}; without a user, the address`, async () => {
      const user = ({ headers }: { headers: Record<string, unknown> }) =>
        give(headers['x-account'] as string | undefined)
      const site = await world.start({ ...OPTIONS, key: 'user', user })
      await site.send({ headers: { 'x-account': 'bob' } })
      await site.send({ headers: { 'x-user': 'alice' } })
      expect(site.keys).toEqual(['user:bob', '127.0.0.1'])
    })

  test('a user function that returns a number means that user', async () => {
    const user = ({ headers }: { headers: Record<string, unknown> }) =>
      Number(headers['x-account']) as never
    const site = await world.start({ ...OPTIONS, key: 'user', user })
    for (const account of ['7', '0']) await site.send({ headers: { 'x-account': account } })
    expect(site.keys).toEqual(['user:7', 'user:0'])
  })

  for (const [user, key] of [
    [{ id: 'alice' }, 'user:alice'],
    [{ id: 42 }, 'user:42'],
    [{ id: 0 }, 'user:0'],
    [{ sub: 'auth0|7' }, 'user:auth0|7'],
    [{ id: '', sub: undefined }, '127.0.0.1'],
    [{ name: 'nobody' }, '127.0.0.1'],
    ['alice', 'user:alice'],
    [42, 'user:42'],
    ['', '127.0.0.1'],
    [null, '127.0.0.1'],
    [undefined, '127.0.0.1'],
  ] as const)
    test(`key: 'user' with the framework's user ${JSON.stringify(user)}: ${key}`, async () => {
      const site = await world.start({ ...OPTIONS, key: 'user' }, { user: () => user })
      await site.send()
      expect(site.keys).toEqual([key])
    })

  test('a user without an id is identified by address, with one warning', async () => {
    const site = await world.start({ ...OPTIONS, key: 'user' }, { user: () => ({ _id: 7 }) })
    for (let i = 0; i < 2; i += 1) await site.send()
    expect(site.keys).toEqual(['127.0.0.1', '127.0.0.1'])
    expect(warned('SLUICE_KEY_MISSING', 'The id of a user')).toBe(1)
  })

  test('nobody is signed in: clients are identified by address', async () => {
    const options = { limit: 1, window: '1m', key: 'user' } as const
    const site = await world.start(options, { trustProxy: '127.0.0.1' })
    const statuses: number[] = []
    for (const address of ['192.0.2.1', '192.0.2.2', '192.0.2.1'])
      statuses.push((await site.send({ headers: { 'X-Forwarded-For': address } })).status)
    expect(statuses).toEqual([200, 200, 429])
  })

  test('a user named like an address does not share its quota', async () => {
    const site = await world.start({ limit: 1, window: '1m', key: 'user' })
    expect((await site.send({ headers: { 'x-user': '127.0.0.1' } })).status).toBe(200)
    expect((await site.send()).status).toBe(200)
  })

  for (const nothing of [undefined, null, '', Number.NaN, {}, Object.create(null), ['a']] as const)
    test(`a key function that returns ${inspect(nothing)}: limited by address, with one warning`, async () => {
      const options = { limit: 1, window: '1m', key: () => nothing as never } as const
      const site = await world.start(options, { trustProxy: '127.0.0.1' })
      const statuses: number[] = []
      for (const address of ['192.0.2.1', '192.0.2.2', '192.0.2.1'])
        statuses.push((await site.send({ headers: { 'X-Forwarded-For': address } })).status)
      expect(statuses).toEqual([200, 200, 429])
      expect(warned('SLUICE_KEY_MISSING', 'The key function')).toBe(1)
    })

  for (const name of ['127.0.0.1', 'address:127.0.0.1', 'user:alice', 'unknown'] as const)
    test(`a client that names itself ${name} spends no quota but its own`, async () => {
      const site = await world.start({
        policies: [
          {
            name: 'function',
            limit: 1,
            window: '1m',
            key: ({ headers }) => headers['x-name'] as never,
          },
          {
            name: 'user',
            limit: 1,
            window: '1m',
            key: 'user',
            cost: ({ headers }) => Number(headers['x-cost'] ?? 1),
          },
        ],
      })
      const mallory = { 'x-name': name, 'x-user': 'mallory' }
      expect((await site.send({ headers: mallory })).status).toBe(200)
      expect((await site.send({ headers: { 'x-user': 'alice' } })).status).toBe(200)
      expect((await site.send({ headers: { 'x-cost': '0' } })).status).toBe(429)
      expect(site.keys).toEqual([
        `key:${name}`,
        'user:mallory',
        '127.0.0.1',
        'user:alice',
        '127.0.0.1',
        '127.0.0.1',
      ])
    })

  test('lists are matched by kind: a key function returns no user and no address', async () => {
    const site = await world.start({
      ...OPTIONS,
      limit: 1,
      key: ({ headers }) => headers['x-name'] as never,
      allow: ['user:42', 'unknown', '203.0.113.7', 'friend', 'key:user:43'],
    })
    const statuses: Record<string, number> = {}
    for (const name of ['user:42', 'unknown', '203.0.113.7', 'key:friend', 'friend', 'user:43']) {
      const replies = await site.sendTimes(2, { headers: { 'x-name': name } })
      statuses[name] = replies[1]?.status as number
    }
    expect(statuses).toEqual({
      'user:42': 429,
      unknown: 429,
      '203.0.113.7': 429,
      'key:friend': 429,
      friend: 200,
      'user:43': 200,
    })
  })
}
