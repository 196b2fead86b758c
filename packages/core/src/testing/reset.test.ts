import { beforeEach, expect, test } from '@jest/globals'
import { useRedis } from '@sluice/test-harness/jest'
import { patient } from '@sluice/test-harness/redis'
import { createLimiter, redisStore } from '../index.ts'
import { failingStore, reset } from './index.ts'

const redis = useRedis()
beforeEach(async () => {
  await redis.client.flushall()
  reset()
})

/** With a prefix: the limiters of all tests share a quota. */
const terms = { ...patient, prefix: 'sluice', refusalCache: true, limit: 1, window: '1d' } as const

// Twice: what the first test leaves behind would refuse the second.
test.each([1, 2])('a client starts with a full quota in each test (%i)', async () => {
  const limiter = createLimiter({ ...terms, store: redis.client })
  expect((await limiter.consume('client')).allowed).toBe(true)
  expect((await limiter.consume('client')).allowed).toBe(false)
  expect((await limiter.consume('client')).source).toBe('cache')
})

test('within a test it holds for limiters on every store, old and new', async () => {
  const stores = [redis.client, redisStore(redis.client)]
  const old = stores.map((store) => createLimiter({ ...terms, store }))
  for (const limiter of old) for (let i = 0; i < 3; i += 1) await limiter.consume('client')
  await redis.client.flushall()
  for (const limiter of old) expect((await limiter.consume('client')).source).toBe('cache')
  reset()
  for (const limiter of [...old, ...stores.map((store) => createLimiter({ ...terms, store }))])
    expect(await limiter.peek('client')).toMatchObject({ allowed: true, source: 'store' })
})

test('a refusal that arrives afterwards is not remembered', async () => {
  const limiter = createLimiter({ ...terms, store: redis.client })
  await limiter.consume('client')
  const late = limiter.consume('client')
  reset()
  expect((await late).allowed).toBe(false)
  await redis.client.flushall()
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
  const limiter = () => createLimiter({ ...terms, store: redis.client, refusalCache: false })
  const old = limiter()
  for (let i = 0; i < 3; i += 1) await old.consume('client')
  await redis.client.flushall()
  expect((await limiter().consume('client')).allowed).toBe(true)
  await redis.client.flushall()
  expect((await old.consume('client')).allowed).toBe(true)
})
