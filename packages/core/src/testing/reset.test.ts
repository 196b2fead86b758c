import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { patient, type RedisServer, startRedis } from '@sluice/test-harness/redis'
import { Redis } from 'ioredis'
import { createLimiter, redisStore } from '../index.ts'
import { failingStore, reset } from './index.ts'

let redis: RedisServer
let client: Redis
beforeAll(async () => {
  redis = await startRedis()
  client = new Redis(redis.url)
})
afterAll(async () => {
  client?.disconnect()
  await redis?.stop()
})
beforeEach(async () => {
  await client.flushall()
  reset()
})

const terms = { ...patient, refusalCache: true, limit: 1, window: '1d' } as const

// Twice: what the first test leaves behind would refuse the second.
test.each([1, 2])('a client starts with a full quota in each test (%i)', async () => {
  const limiter = createLimiter({ ...terms, store: client })
  expect((await limiter.consume('client')).allowed).toBe(true)
  expect((await limiter.consume('client')).allowed).toBe(false)
  expect((await limiter.consume('client')).source).toBe('cache')
})

test('within a test it holds for limiters on every store, old and new', async () => {
  const stores = [client, redisStore(client)]
  const old = stores.map((store) => createLimiter({ ...terms, store }))
  for (const limiter of old) for (let i = 0; i < 3; i += 1) await limiter.consume('client')
  await client.flushall()
  for (const limiter of old) expect((await limiter.consume('client')).source).toBe('cache')
  reset()
  for (const limiter of [...old, ...stores.map((store) => createLimiter({ ...terms, store }))])
    expect(await limiter.peek('client')).toMatchObject({ allowed: true, source: 'store' })
})

test('a refusal that arrives afterwards is not remembered', async () => {
  const limiter = createLimiter({ ...terms, store: client })
  await limiter.consume('client')
  const late = limiter.consume('client')
  reset()
  expect((await late).allowed).toBe(false)
  await client.flushall()
  expect(await limiter.consume('client')).toMatchObject({ allowed: true, source: 'store' })
})

test('what was counted while a store failed is forgotten', async () => {
  const store = failingStore()
  const limiter = createLimiter({ ...terms, store, onStoreError: 'local' })
  store.fail()
  expect((await limiter.consume('client')).allowed).toBe(true)
  expect((await limiter.consume('client')).allowed).toBe(false)
  reset()
  expect(await limiter.consume('client')).toMatchObject({ allowed: true, source: 'local' })
})

test('without a cache nothing needs it: a server in a process of its own', async () => {
  const limiter = () => createLimiter({ ...terms, store: client, refusalCache: false })
  const old = limiter()
  for (let i = 0; i < 3; i += 1) await old.consume('client')
  await client.flushall()
  expect((await limiter().consume('client')).allowed).toBe(true)
  await client.flushall()
  expect((await old.consume('client')).allowed).toBe(true)
})
