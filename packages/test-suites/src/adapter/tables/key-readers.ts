import { expect } from 'expect'
import { WAYS } from '../ways.ts'
import type { World } from '../world.ts'

const OPTIONS = { limit: 100, window: '1m' } as const

/** Functions of the options that get the key of the request. */
export function keyReaderTests(world: World): void {
  const { test } = world
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
