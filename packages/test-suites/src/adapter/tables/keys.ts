import { inspect } from 'node:util'
import { expect } from 'expect'
import { warned } from '../warnings.ts'
import type { World } from '../world.ts'

const OPTIONS = { limit: 100, window: '1m' } as const
const later = <T>(value: T) => new Promise<T>((resolve) => setImmediate(resolve, value))
/** A thenable that is no native promise, as query builders and older libraries return. */
const thenable = <T>(value: T) =>
  ({
    // biome-ignore lint/suspicious/noThenProperty: a thenable is needed
    then(resolve: (value: T) => void) {
      setImmediate(resolve, value)
    },
  }) as unknown as Promise<T>

const WAYS: [string, <T>(value: T) => T | Promise<T>][] = [
  ['synchronous', (value) => value],
  ['by a promise', later],
  ['by a thenable', thenable],
]

/** What a request is charged to, and how much: options that are functions of it. */
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
    ['alice', '127.0.0.1'],
    [null, '127.0.0.1'],
    [undefined, '127.0.0.1'],
  ] as const)
    test(`key: 'user' with the framework's user ${JSON.stringify(user)}: ${key}`, async () => {
      const site = await world.start({ ...OPTIONS, key: 'user' }, { user: () => user })
      await site.send()
      expect(site.keys).toEqual([key])
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
      expect(warned('SLUICE_KEY_MISSING')).toBe(1)
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

  for (const [given, give] of WAYS)
    test(`limit as a function: tiers, ${given}`, async () => {
      const site = await world.start({
        limit: ({ headers }) => give(headers['x-plan'] === 'pro' ? 10 : 1),
        window: '1m',
        key: ({ headers }) => String(headers['x-plan']),
      })
      const pro = await site.sendTimes(2, { headers: { 'x-plan': 'pro' } })
      const free = await site.sendTimes(2, { headers: { 'x-plan': 'free' } })
      expect([...pro, ...free].map(({ status }) => status)).toEqual([200, 200, 200, 429])
      expect(pro[1]?.field('RateLimit-Policy')).toBe('"default";q=10;w=60')
      expect(pro[1]?.remaining).toBe(8)
      expect(free[1]?.field('RateLimit-Policy')).toBe('"default";q=1;w=60')
    })

  test('a client whose plan grows keeps what it has used', async () => {
    const site = await world.start({
      limit: ({ headers }) => Number(headers['x-limit']),
      window: '1m',
    })
    const statuses: number[] = []
    for (const limit of ['2', '2', '2', '5'])
      statuses.push((await site.send({ headers: { 'x-limit': limit } })).status)
    expect(statuses).toEqual([200, 200, 429, 200])
    expect((await site.send({ headers: { 'x-limit': '5' } })).remaining).toBe(1)
  })

  for (const [given, give] of WAYS)
    test(`window as a function: plans with other windows, ${given}`, async () => {
      const site = await world.start({
        limit: 2,
        window: ({ headers }) => give(headers['x-plan'] === 'pro' ? '1m' : '1h'),
        retryAfterJitter: 0,
        algorithm: 'fixed-window',
        key: ({ headers }) => String(headers['x-plan']),
      })
      const statuses = async (plan: string) =>
        (await site.sendTimes(3, { headers: { 'x-plan': plan } })).map(({ status }) => status)
      expect(await statuses('pro')).toEqual([200, 200, 429])
      expect(await statuses('free')).toEqual([200, 200, 429])
      world.clock.advance(60_000)
      expect(await statuses('pro')).toEqual([200, 200, 429])
      const refused = await site.send({ headers: { 'x-plan': 'free' } })
      expect(refused.field('RateLimit-Policy')).toBe('"default";q=2;w=3600')
      expect(refused.field('RateLimit')).toBe('"default";r=0;t=3540')
    })

  test('a client that chooses its window has one quota of each of 16 lengths, and then no other', async () => {
    const site = await world.start({
      limit: 1,
      window: ({ headers }) => Number(headers['x-window']),
    })
    const send = async (windowMs: number) =>
      (await site.send({ headers: { 'x-window': String(windowMs) } })).status
    const served: number[] = []
    for (const round of [1, 2])
      for (let hours = 1; hours <= 20; hours += 1)
        if ((await send(hours * 3_600_000)) === 200) served.push(round * 100 + hours)
    expect(served).toEqual(Array.from({ length: 16 }, (_, i) => 101 + i))
    expect(site.errors).toHaveLength(8)
    expect(site.errors[0]).toMatchObject({ code: 'SLUICE_OPTION_RANGE', option: 'window' })
  })

  for (const [given, give] of WAYS)
    test(`cost as a function, ${given}`, async () => {
      const cost = ({ headers }: { headers: Record<string, unknown> }) =>
        give(Number(headers['x-cost']))
      const site = await world.start({ limit: 10, window: '1m', cost })
      const results: number[][] = []
      for (const units of ['3', '0', '8', '7', '0']) {
        const reply = await site.send({ headers: { 'x-cost': units } })
        results.push([reply.status, reply.status === 200 ? reply.remaining : 0])
      }
      expect(results).toEqual([
        [200, 7],
        [200, 7],
        [429, 0],
        [200, 0],
        [429, 0],
      ])
    })

  for (const [given, give] of WAYS)
    test(`limit, window, anchor and cost get the key of their policy, read ${given}`, async () => {
      const got: string[] = []
      const noting =
        <T>(option: string, value: T) =>
        (_: unknown, key: string) => {
          got.push(`${option} ${key}`)
          return value
        }
      const cost = noting('cost', 1)
      const site = await world.start({
        key: 'user',
        cost,
        policies: [
          { name: 'a', limit: noting('limit', 9), window: noting('window', '1h') },
          {
            name: 'b',
            limit: 9,
            window: 'month',
            anchor: noting('anchor', 3),
            key: () => give('k'),
          },
          { name: 'c', concurrent: noting('concurrent', 9), key: 'ip' },
        ],
      })
      expect((await site.send({ headers: { 'x-user': 'alice' } })).status).toBe(200)
      expect(got.sort()).toEqual([
        'anchor key:k',
        'concurrent 127.0.0.1',
        'cost key:k',
        'cost user:alice',
        'limit user:alice',
        'window user:alice',
      ])
    })

  for (const [given, give] of WAYS)
    test(`respond and onDecision get the key of the first policy, read ${given}`, async () => {
      const got: string[] = []
      const site = await world.start({
        policies: [
          { name: 'a', limit: 9, window: '1h', key: ({ headers }) => give(`${headers['x-name']}`) },
          { name: 'b', limit: 1, window: '1h', key: 'ip' },
        ],
        deny: ['203.0.113.0/24', 'mallory'],
        allow: ['bob'],
        trustProxy: 'loopback',
        onDecision: ({ allowed }, _, key) => void got.push(`${allowed} ${key}`),
        respond: (_, __, response, key) => {
          got.push(`respond ${key}`)
          return response.send('no')
        },
      })
      for (const name of ['alice', 'alice', 'bob', 'mallory'])
        await site.send({ headers: { 'x-name': name } })
      await site.send({ headers: { 'X-Forwarded-For': '203.0.113.7:80' } })
      expect(got).toEqual([
        'true key:alice',
        'false key:alice',
        'respond key:alice',
        'true key:bob',
        'false key:mallory',
        'respond key:mallory',
        'false 203.0.113.7',
        'respond 203.0.113.7',
      ])
    })

  test('while the store fails, respond and onDecision get the key too', async () => {
    const got: string[] = []
    const store = world.failingStore()
    store.fail()
    const site = await world.start({
      ...OPTIONS,
      store,
      key: 'user',
      onStoreError: 'deny',
      onDecision: (_, __, key) => void got.push(key),
      respond: (_, __, response, key) => {
        got.push(key)
        return response.send('no')
      },
    })
    await site.send({ headers: { 'x-user': 'alice' } })
    expect(got).toEqual(['user:alice', 'user:alice'])
  })

  for (const [given, give] of WAYS)
    test(`skip reads the key if it asks for it, and once: ${given}`, async () => {
      let read = 0
      const site = await world.start({
        limit: 1,
        window: '1m',
        key: ({ headers }) => {
          read += 1
          return give(`${headers['x-name']}`)
        },
        skip: async ({ headers }, key) => {
          if (headers['x-name'] === 'unasked') return true
          return (await key()) === 'key:staff' && (await key()) === 'key:staff'
        },
      })
      const reads: number[][] = []
      for (const name of ['unasked', 'staff', 'staff', 'guest', 'guest']) {
        const { status } = await site.send({ headers: { 'x-name': name } })
        reads.push([status, read])
      }
      expect(reads).toEqual([
        [200, 0],
        [200, 1],
        [200, 2],
        [200, 3],
        [429, 4],
      ])
      expect(site.keys).toEqual(['key:guest', 'key:guest'])
    })

  test('a key that skip asked for and did not await may fail', async () => {
    const site = await world.start({
      ...OPTIONS,
      key: async () => {
        throw new Error('no session')
      },
      skip: (_, key) => {
        void key()
        return true
      },
    })
    expect((await site.send()).status).toBe(200)
    expect(site.errors).toEqual([])
  })

  test('what the key function throws, skip throws', async () => {
    const site = await world.start({
      ...OPTIONS,
      key: () => {
        throw new Error('no session')
      },
      skip: async (_, key) => (await key()) === 'key:staff',
    })
    expect((await site.send()).status).toBe(500)
    expect(site.errors).toMatchObject([{ message: 'no session' }])
  })

  for (const [given, give] of WAYS)
    test(`skip, ${given}: neither limited nor counted`, async () => {
      const site = await world.start({
        limit: 1,
        window: '1m',
        skip: ({ headers }) => give(headers['x-skip'] === 'yes'),
      })
      const skipped = await site.sendTimes(3, { headers: { 'x-skip': 'yes' } })
      expect(skipped.map(({ status }) => status)).toEqual([200, 200, 200])
      expect(site.decisions).toEqual([undefined, undefined, undefined])
      const counted = await site.sendTimes(2)
      expect(counted.map(({ status }) => status)).toEqual([200, 429])
      expect(site.keys).toHaveLength(2)
    })
}
