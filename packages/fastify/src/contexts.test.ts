import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { type RedisServer, startRedis } from '@sluice/test-harness/redis'
import fastify, { type FastifyInstance } from 'fastify'
import { Redis } from 'ioredis'
import { memoryStore, rateLimit } from './index.ts'
import { listen, statuses } from './testing.ts'

const OPTIONS = { limit: 4, window: '1d' } as const
const ok = async () => 'served'

let server: RedisServer
let redis: Redis
let prefixes = 0

beforeAll(async () => {
  server = await startRedis()
  redis = new Redis(server.port, server.host)
})

afterAll(async () => {
  redis.disconnect()
  await server.stop()
})

/** What remains of each policy in the response, in order. */
async function remaining(app: FastifyInstance, url = '/'): Promise<number[]> {
  const reply = await (await listen(app))(`GET ${url}`)
  return [...(reply.field('RateLimit') ?? '').matchAll(/;r=(\d+)/g)].map(([, r]) => Number(r))
}

test('a plugin registered in a child limits the child only', async () => {
  const app = fastify()
  app.get('/', async (request) => [request.rateLimit ?? 'unlimited'])
  await app.register(
    async (child) => {
      await child.register(rateLimit, { ...OPTIONS, limit: 0 })
      child.get('/', ok)
    },
    { prefix: '/child' },
  )
  const reply = await (await listen(app))('GET /')
  expect([reply.body, reply.limitFields()]).toEqual(['["unlimited"]', {}])
  expect(await statuses(app, 'GET /child', 'GET /child/unknown')).toEqual([429, 404])
  expect([app.hasDecorator('rateLimit'), app.hasRequestDecorator('rateLimit')]).toEqual([
    false,
    false,
  ])
})

test('app.rateLimit is the limiter of the context, else of the one above', async () => {
  const app = fastify()
  await app.register(rateLimit, OPTIONS)
  await app.register(rateLimit, { ...OPTIONS, limit: 9 })
  await app.register(async (child) => {
    expect(child.rateLimit).toBe(app.rateLimit)
    await child.register(rateLimit, { ...OPTIONS, limit: 2 })
    expect(await child.rateLimit.peek('127.0.0.1')).toMatchObject({ limit: 2 })
  })
  app.get('/', ok)
  await statuses(app, 'GET /')
  expect(await app.rateLimit.peek('127.0.0.1')).toMatchObject({ limit: 4, remaining: 3 })
  await app.rateLimit.block('127.0.0.1', '1h')
  expect(await statuses(app, 'GET /')).toEqual([429])
})

test('a second limiter on a route is not ignored', async () => {
  const app = fastify()
  await app.register(rateLimit, OPTIONS)
  await app.register(async (child) => {
    await child.register(rateLimit, { limit: 1, window: '1d' })
    child.get('/', ok)
  })
  expect(await remaining(app)).toEqual([3, 0])
  const refused = await (await listen(app))('GET /')
  expect(refused.status).toBe(429)
  expect(refused.field('RateLimit-Policy')).toBe('"default";q=4;w=86400, "default-2";q=1;w=86400')
})

describe.each(['memory', 'a given memory store', 'Redis'])('counted in %s', (name) => {
  const storeFor = () => {
    if (name === 'Redis') return redis
    return name === 'memory' ? undefined : memoryStore()
  }
  // A busy machine must not make the process decide by itself.
  const PATIENT = { ...OPTIONS, deadline: '1m' } as const
  const options = () => ({ ...PATIENT, store: storeFor(), prefix: `c${++prefixes}` })

  test('registered twice with the same options object, each counts a request once', async () => {
    const same = options()
    const app = fastify()
    await app.register(rateLimit, same)
    await app.register(rateLimit, same)
    app.get('/', ok)
    app.get('/few', { config: { rateLimit: { limit: 2 } } }, ok)
    expect(await remaining(app)).toEqual([3, 3])
    expect(await remaining(app)).toEqual([2, 2])
    expect(await remaining(app, '/few')).toEqual([1, 1])
    expect(await remaining(app, '/few')).toEqual([0, 0])
  })

  test('the same if the second is in a child', async () => {
    const same = options()
    const app = fastify()
    await app.register(rateLimit, same)
    await app.register(async (child) => {
      await child.register(rateLimit, same)
      child.get('/', ok)
    })
    app.get('/outer', ok)
    expect(await remaining(app)).toEqual([3, 3])
    expect(await remaining(app, '/outer')).toEqual([2])
    expect(await remaining(app)).toEqual([1, 2])
  })

  test('a route with its own limit counts once for each of two different limiters', async () => {
    const store = options()
    const app = fastify()
    await app.register(rateLimit, store)
    await app.register(rateLimit, { ...store, limit: 1000, window: '1d' })
    app.get('/', { config: { rateLimit: { limit: 3, window: '1d' } } }, ok)
    expect(await remaining(app)).toEqual([2, 2])
  })

  if (name === 'memory') return

  test('next to one with another prefix or store, a limiter shares as if it were alone', async () => {
    const same = options()
    const app = fastify()
    await app.register(rateLimit, { ...same, prefix: 'other' })
    await app.register(rateLimit, { ...same, store: undefined })
    await app.register(rateLimit, same)
    const alone = fastify()
    await alone.register(rateLimit, same)
    expect((await remaining(app)).at(-1)).toBe(3)
    expect(await remaining(alone)).toEqual([2])
  })

  test('sibling contexts with the same prefix and limit share a quota', async () => {
    const same = options()
    const app = fastify()
    for (const prefix of ['/a', '/b'])
      await app.register(
        async (child) => {
          await child.register(rateLimit, same)
          child.get('/', ok)
        },
        { prefix },
      )
    const other = fastify()
    await other.register(rateLimit, same)
    other.get('/', ok)
    expect(await remaining(app, '/a')).toEqual([3])
    expect(await remaining(app, '/b')).toEqual([2])
    expect(await remaining(other)).toEqual([1])
  })
})

test('the default prefix can also be set explicitly', async () => {
  const store = memoryStore()
  const app = fastify()
  await app.register(rateLimit, { ...OPTIONS, store })
  await app.register(rateLimit, { ...OPTIONS, store, prefix: 'sluice' })
  expect(await remaining(app)).toEqual([3, 3])
  store.close()
})
