// A client's own limit stands behind the state of its key: where it is, how long it lives, what it costs.

import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { patient, type RedisServer, startRedis } from '@sluice/test-harness/redis'
import { Redis } from 'ioredis'
import { createLimiter, type LimiterOptions, redisStore } from '../../index.ts'
import { manualClock } from '../../testing/index.ts'

const HOUR = 3_600_000
const KEY = 'sluice:{ada}:sliding-window:3600000:default'

let redis: RedisServer
let client: Redis
beforeAll(async () => {
  redis = await startRedis()
  client = new Redis(redis.url)
})
afterAll(async () => {
  client.disconnect()
  await redis.stop()
})
beforeEach(() => client.flushall())

function limiterOf(options: object = {}) {
  const given: unknown = { ...patient, store: client, limit: 5, window: '1h', ...options }
  return createLimiter(given as LimiterOptions<'async'> & { store: Redis })
}

test('the key of a client without one has 32 bytes, and has them again when the limit has ended', async () => {
  const clock = manualClock()
  const limiter = limiterOf({ store: redisStore(client, { clock }) })
  await limiter.consume('ada')
  expect(await client.strlen(KEY)).toBe(32)
  await limiter.override('ada', { limit: 9, until: clock() + 1000 })
  expect(await client.strlen(KEY)).toBeGreaterThan(32)
  clock.advance(999)
  expect(await limiter.consume('ada')).toMatchObject({ limit: 9, remaining: 7 })
  expect(await client.strlen(KEY)).toBeGreaterThan(32)
  clock.advance(1)
  expect(await limiter.consume('ada')).toMatchObject({ limit: 5, remaining: 2 })
  expect(await client.strlen(KEY)).toBe(32)
})

test.each([
  ['sliding-log', 3 * 16, { algorithm: 'sliding-log' }],
  // They have a key of their own.
  ['slots', 0, { limit: undefined, window: undefined, concurrent: 5 }],
])('entries of %s are where they were when the limit has ended', async (_, bytes, options) => {
  const clock = manualClock()
  const limiter = limiterOf({ store: redisStore(client, { clock }), ...options })
  const take = () => ('concurrent' in options ? limiter.acquire('ada') : limiter.consume('ada'))
  await take()
  await limiter.override('ada', { limit: 9, until: clock() + 1000 })
  clock.advance(1)
  await take()
  const [key] = (await client.keys('*{ada}*')).sort() as [string]
  expect(await client.strlen(key)).toBeGreaterThan(32 + 2 * 16)
  clock.advance(999)
  expect(await take()).toMatchObject({ limit: 5, remaining: 2 })
  expect(await client.strlen(key)).toBe(32 + bytes)
  limiter.close()
})

test('a key lives as long as the limit and the count, and without an end stays', async () => {
  const limiter = limiterOf()
  await limiter.override('ada', { limit: 9, until: Date.now() + 10 * HOUR })
  const ttl = await client.pttl(KEY)
  expect(ttl).toBeGreaterThan(9.9 * HOUR)
  expect(ttl).toBeLessThanOrEqual(10 * HOUR + 2000)
  await limiter.override('ada', { limit: 9 })
  expect(await client.pttl(KEY)).toBe(-1)
  for (const change of [
    () => limiter.consume('ada'),
    () => limiter.settle('ada', -1),
    () => limiter.block('ada', '1m'),
    () => limiter.reset('ada'),
  ]) {
    await change()
    expect(await client.pttl(KEY)).toBe(-1)
  }
  await limiter.override('ada', null)
  expect(await client.exists(KEY)).toBe(0)
  await limiter.consume('ada')
  await limiter.override('ada', { limit: 9 })
  await limiter.override('ada', null)
  expect(await client.pttl(KEY)).toBeGreaterThan(HOUR - 2000)
  expect(await limiter.peek('ada')).toMatchObject({ remaining: 4 })
})

test('a server that is full and evicts what ends keeps a limit without an end; what is lost is the policy’s again', async () => {
  const limiter = limiterOf()
  await limiter.override('ada', { limit: 9 })
  await client.config('SET', 'maxmemory-policy', 'volatile-ttl')
  const used = Number(/used_memory:(\d+)/.exec(await client.info('memory'))?.[1])
  await client.config('SET', 'maxmemory', used + 300_000)
  const evicted = async () => Number(/evicted_keys:(\d+)/.exec(await client.info('stats'))?.[1])
  for (let i = 0; (await evicted()) === 0; i += 500) {
    const flood = Array.from({ length: 500 }, (_, k) => limiter.consume(`client ${i + k}`))
    await Promise.all(flood)
  }
  await client.config('SET', 'maxmemory', 0)
  expect(await limiter.consume('ada')).toMatchObject({ limit: 9, remaining: 8 })
  await client.del(KEY)
  expect(await limiter.consume('ada')).toMatchObject({ limit: 5, remaining: 4 })
})

test('a request of a client that has one runs the commands that every other runs', async () => {
  const limiter = limiterOf()
  await limiter.override('ada', { limit: 1000 })
  for (const key of ['ada', 'bob']) await limiter.consume(key)
  const commandsOf = async (key: string) => {
    await client.config('RESETSTAT')
    await limiter.consume(key)
    const stats = await redis.commandStats()
    return Object.keys(stats)
      .filter((name) => !/config|info/.test(name))
      .sort()
  }
  expect(await commandsOf('ada')).toEqual(await commandsOf('bob'))
})

test.each([
  ['cut off', (value: Buffer) => value.subarray(0, 60)],
  ['followed by more', (value: Buffer) => Buffer.concat([value, Buffer.alloc(16)])],
  [
    'of another size',
    (value: Buffer) => {
      const changed = Buffer.from(value)
      changed.writeDoubleLE(1e300, 32)
      return changed
    },
  ],
  [
    'not a number',
    (value: Buffer) => {
      const changed = Buffer.from(value)
      changed.writeDoubleLE(Number.NaN, 32)
      return changed
    },
  ],
  [
    'without its mark',
    (value: Buffer) => {
      const changed = Buffer.from(value)
      changed.writeDoubleLE(Date.now() + HOUR, 24)
      return changed
    },
  ],
])('terms that are %s fail their own client alone', async (_, damage) => {
  const limiter = limiterOf()
  for (const key of ['ada', 'bob']) await limiter.override(key, { limit: 9 })
  await client.set(KEY, damage((await client.getBuffer(KEY)) as Buffer))
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
  const value = ((await client.getBuffer(KEY)) as Buffer).toString('latin1')
  for (const key of [value, `ada}:sliding-window:3600000:default`, '#', `${KEY}`, 'ada\0']) {
    expect(await limiter.consume(key)).toMatchObject({ limit: 5, remaining: 4 })
  }
})

test('a process with another limit of the policy has the same own limit', async () => {
  const another = new Redis(redis.url)
  const other = limiterOf({ limit: 100, store: another })
  await limiterOf().override('ada', { limit: 9 })
  expect(await other.consume('ada')).toMatchObject({ limit: 9 })
  await limiterOf().grant('ada', 3)
  await limiterOf().override('ada', { limit: null })
  expect(await other.peek('ada')).toMatchObject({ limit: 103, remaining: 102 })
  expect(await limiterOf().peek('ada')).toMatchObject({ limit: 8, remaining: 7 })
  another.disconnect()
})
