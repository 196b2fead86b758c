// What a client has of its own is a record: where it is, how long it lives, what it costs.

import { beforeEach, expect, test } from '@jest/globals'
import { useRedis } from '@sluice/test-harness/jest'
import { patient } from '@sluice/test-harness/redis'
import type { Redis } from 'ioredis'
import { createLimiter, type LimiterOptions, redisStore } from '../../index.ts'
import { manualClock } from '../../testing/index.ts'
import { unguarded } from './testing/unguarded.ts'

const HOUR = 3_600_000
const KEY = 'sluice:{ada}:sliding-window:3600000:default'
const RECORD = 'sluice:{ada}:own:default'

const redis = useRedis()
beforeEach(() => redis.client.flushall())

function limiterOf(options: object = {}) {
  const given: unknown = { ...patient, store: redis.client, limit: 5, window: '1h', ...options }
  return createLimiter(given as LimiterOptions<'async'> & { store: Redis })
}

test('it is a record beside the counts, which say that there is one until it has ended', async () => {
  const clock = manualClock()
  const limiter = limiterOf({ store: redisStore(redis.client, { clock }) })
  const isMarked = async () => (await redis.client.getBuffer(KEY))!.readDoubleLE(24) % 1 > 0
  await limiter.consume('ada')
  expect(await isMarked()).toBe(false)
  await limiter.override('ada', { limit: 9, until: clock() + 1000 })
  expect([
    await isMarked(),
    await redis.client.strlen(KEY),
    await redis.client.strlen(RECORD),
  ]).toEqual([true, 32, 40])
  // The server's clock goes on while the given one stands still.
  expect(await redis.client.pttl(RECORD)).toBeGreaterThan(HOUR)
  clock.advance(999)
  expect(await limiter.consume('ada')).toMatchObject({ limit: 9, remaining: 7 })
  clock.advance(1)
  expect(await limiter.consume('ada')).toMatchObject({ limit: 5, remaining: 2 })
  expect([await isMarked(), await redis.client.exists(RECORD)]).toEqual([false, 0])
  await limiter.override('ada', { limit: 9 })
  expect(await isMarked()).toBe(true)
  await redis.client.del(RECORD)
  expect(await limiter.consume('ada')).toMatchObject({ limit: 5, remaining: 1 })
  expect(await isMarked()).toBe(false)
})

test('other bytes in its place stay, and every call that needs the record fails', async () => {
  const limiter = limiterOf({ store: unguarded(redis.client) })
  await limiter.override('ada', { limit: 9 })
  await limiter.consume('ada')
  const one = (await redis.client.getBuffer(RECORD))!
  const grant = Buffer.alloc(32, 1)
  for (const bytes of [
    Buffer.alloc(0),
    one.subarray(1),
    Buffer.concat([one, grant.subarray(1)]),
    Buffer.concat([one, grant, grant.subarray(8)]),
  ]) {
    await redis.client.set(RECORD, bytes)
    for (const act of [
      () => limiter.consume('ada'),
      () => limiter.peek('ada'),
      () => limiter.settle('ada', 1),
      () => limiter.override('ada', { limit: 20 }),
      () => limiter.override('ada', null),
      () => limiter.grant('ada', 1),
      () => limiter.block('ada', '1m'),
      () => limiter.reset('ada'),
    ])
      await expect(act()).rejects.toThrow('holds no state')
    expect(await redis.client.getBuffer(RECORD)).toEqual(bytes)
  }
})

test('a record lives as long as what is in it, and without an end stays', async () => {
  const limiter = limiterOf()
  await limiter.override('ada', { limit: 9, until: Date.now() + 10 * HOUR })
  const ttl = await redis.client.pttl(RECORD)
  expect(ttl).toBeGreaterThan(9.9 * HOUR)
  expect(ttl).toBeLessThanOrEqual(10 * HOUR + 2000)
  for (const hours of [20, 5]) await limiter.grant('bob', 1, { until: Date.now() + hours * HOUR })
  expect(await redis.client.pttl('sluice:{bob}:own:default')).toBeGreaterThan(19.9 * HOUR)
  await limiter.override('ada', { limit: 9 })
  for (const change of [
    () => limiter.consume('ada'),
    () => limiter.settle('ada', -1),
    () => limiter.block('ada', '1m'),
    () => limiter.reset('ada'),
  ]) {
    await change()
    expect(await redis.client.pttl(RECORD)).toBe(-1)
  }
  await limiter.override('ada', null)
  expect(await redis.client.exists(RECORD)).toBe(0)
  await limiter.block('ada', '1m')
  expect(await redis.client.keys('*{ada}*')).toEqual([RECORD])
  expect(await redis.client.pttl(RECORD)).toBeLessThanOrEqual(60_000 + 2000)
})

test.each([
  ['a limiter', 'sluice'],
  ['a route', 'sluice.1a2b3c4d'],
])(
  'of %s it outlives a deploy that changes the window and the algorithm, and so does a block',
  async (_, prefix) => {
    const versions = [
      limiterOf({ prefix }),
      limiterOf({ prefix, window: '1d' }),
      limiterOf({ prefix, algorithm: 'token-bucket', burst: 20 }),
      limiterOf({ prefix, algorithm: 'leaky-bucket', maxDelay: '2s' }),
      limiterOf({ prefix, algorithm: 'sliding-log' }),
      limiterOf({ prefix, window: 'day' }),
    ]
    const all = async (key: string) => {
      return Promise.all(versions.map(async (each) => (await each.peek(key)).limit))
    }
    for (const each of versions) for (const key of ['ada', 'Zoë']) await each.consume(key)
    await versions[0]!.override('ada', { limit: 9 })
    await versions[0]!.grant('ada', 1, { until: Date.now() + HOUR })
    // Buckets take no top-ups. Of a new client too, and of one whose key is a digest.
    for (const key of ['ada', 'bob', 'Zoë']) {
      await versions[5]!.override(key, { limit: 9 })
      expect(await all(key)).toEqual(key === 'ada' ? [10, 10, 9, 9, 10, 10] : [9, 9, 9, 9, 9, 9])
    }
    await versions[3]!.block('ada', '1m')
    for (const each of versions) expect((await each.consume('ada')).allowed).toBe(false)
    await versions[4]!.reset('ada')
    for (const each of versions) expect((await each.consume('ada')).allowed).toBe(true)
  },
)

test('a reset ends what a ban of another version has counted', async () => {
  const ban = { after: 1, within: '1d', for: ['1h'] }
  const options = { prefix: 'bans', limit: 1, ban, refusalCache: false }
  const [one, other] = [limiterOf(options), limiterOf({ ...options, window: '1d' })]
  for (let i = 0; i < 2; i += 1) await one.consume('ada')
  await other.consume('bob')
  expect((await one.peek('ada')).ban).toBeDefined()
  await other.reset('ada')
  expect((await one.peek('ada')).ban).toBeUndefined()
})

test('a server that is full and evicts what ends keeps a limit without an end; what is lost is the policy’s again', async () => {
  const limiter = limiterOf()
  await limiter.override('ada', { limit: 9 })
  await redis.client.config('SET', 'maxmemory-policy', 'volatile-ttl')
  const used = Number(/used_memory:(\d+)/.exec(await redis.client.info('memory'))?.[1])
  await redis.client.config('SET', 'maxmemory', used + 300_000)
  const evicted = async () =>
    Number(/evicted_keys:(\d+)/.exec(await redis.client.info('stats'))?.[1])
  for (let i = 0; (await evicted()) === 0; i += 500) {
    const flood = Array.from({ length: 500 }, (_, k) => limiter.consume(`client ${i + k}`))
    await Promise.all(flood)
  }
  await redis.client.config('SET', 'maxmemory', 0)
  expect(await limiter.consume('ada')).toMatchObject({ limit: 9, remaining: 8 })
  await redis.client.del(RECORD)
  expect(await limiter.consume('ada')).toMatchObject({ limit: 5, remaining: 3 })
})

test('a request of a client that has one runs one command more, and every other none', async () => {
  const limiter = limiterOf()
  await limiter.override('ada', { limit: 1000 })
  for (const key of ['ada', 'bob']) await limiter.consume(key)
  const getsOf = async (key: string) => {
    await redis.client.config('RESETSTAT')
    await limiter.consume(key)
    return (await redis.server.commandStats()).get?.calls ?? 0
  }
  expect([await getsOf('ada'), await getsOf('bob')]).toEqual([2, 1])
})

test.each([
  ['cut off', (value: Buffer) => value.subarray(0, 36)],
  ['followed by more', (value: Buffer) => Buffer.concat([value, Buffer.alloc(16)])],
  ['empty', () => Buffer.alloc(0)],
])('a record that is %s fails its own client alone', async (_, damage) => {
  const limiter = limiterOf()
  for (const key of ['ada', 'bob']) await limiter.override(key, { limit: 9 })
  await redis.client.set(RECORD, damage((await redis.client.getBuffer(RECORD)) as Buffer))
  const keys = ['eve', 'ada', 'bob', 'mallory']
  const decisions = await Promise.all(keys.map((key) => limiter.consume(key)))
  expect(decisions.map(({ source, limit }) => [source, limit])).toEqual([
    ['store', 5],
    ['local', 5],
    ['store', 9],
    ['store', 5],
  ])
})

test('no text of a key makes a limit', async () => {
  const limiter = limiterOf()
  await limiter.override('ada', { limit: 9 })
  const value = ((await redis.client.getBuffer(RECORD)) as Buffer).toString('latin1')
  for (const key of [value, `ada}:sliding-window:3600000:default`, '#', RECORD, 'ada\0']) {
    expect(await limiter.consume(key)).toMatchObject({ limit: 5, remaining: 4 })
  }
})
