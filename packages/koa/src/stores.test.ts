import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { ALGORITHM_NAMES } from '@sluice/core/algorithms'
import { manualClock } from '@sluice/core/testing'
import { type RedisServer, startRedis } from '@sluice/test-harness/redis'
import { Redis } from 'ioredis'
import { memoryStore, type RateLimitOptions, rateLimit, redisStore } from './index.ts'
import { listen, VERSIONS } from './testing.ts'

const NOON = 1_795_176_000_000
/** A busy machine must not make the process decide by itself. */
const PATIENT = { deadline: '1m' } as const

let server: RedisServer
let client: Redis

beforeAll(async () => {
  server = await startRedis()
  client = new Redis(server.port, server.host)
})
afterAll(async () => {
  client.disconnect()
  await server.stop()
})

describe.each(VERSIONS)('%s', (version, Koa) => {
  test.each<[string, RateLimitOptions['store']]>([
    ['no store', undefined],
    ['memoryStore()', memoryStore()],
  ])('memory limits, without passing a map: %s', async (_, store) => {
    const prefix = version.replace(' ', '-')
    const app = new Koa().use(rateLimit({ limit: 2, window: '1d', store, prefix }))
    expect(await (await listen(app)).statuses(3)).toEqual([404, 404, 429])
  })

  test('a client of Redis is a store, shared by all processes that use it', async () => {
    const limiter = () =>
      rateLimit({ ...PATIENT, limit: 2, window: '1d', store: client, prefix: `${version[4]}` })
    const sites = [await listen(new Koa().use(limiter())), await listen(new Koa().use(limiter()))]
    expect(await sites[0]?.statuses(2)).toEqual([404, 404])
    expect(await sites[1]?.statuses(1)).toEqual([429])
  })

  test.each(ALGORITHM_NAMES)('memory and Redis run the same %s', async (algorithm) => {
    const clock = manualClock(NOON)
    const sites = await Promise.all(
      [memoryStore({ clock }), redisStore(client, { clock })].map((store) => {
        const options = { ...PATIENT, limit: 5, window: '1s', algorithm, store } as const
        const prefix = `${version[4]}-${algorithm}`
        const cost = (ctx: { path: string }) => Number(ctx.path.slice(1))
        const delays = algorithm === 'leaky-bucket' ? { maxDelay: 0 } : {}
        return listen(new Koa().use(rateLimit({ ...options, ...delays, prefix, cost })))
      }),
    )
    const statuses = new Set<number>()
    for (let i = 0; i < 30; i += 1) {
      const [memory, redis] = await Promise.all(
        sites.map(async (site) => {
          const reply = await site.send(`/${i % 3}`)
          return { status: reply.status, body: reply.body, fields: reply.limitFields() }
        }),
      )
      expect(redis).toEqual(memory)
      statuses.add(memory?.status as number)
      clock.advance((i * 37) % 150)
    }
    expect([...statuses].sort()).toEqual([404, 429])
  })
})
