// What @nestjs/throttler promises its users, with counts kept by Sluice.

import 'reflect-metadata'
import type { Server } from 'node:http'
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals'
import { Controller, Get, type INestApplication, Module, Post, type Type } from '@nestjs/common'
import { type AbstractHttpAdapter, APP_GUARD, NestFactory } from '@nestjs/core'
import { ExpressAdapter } from '@nestjs/platform-express'
import { FastifyAdapter } from '@nestjs/platform-fastify'
import {
  minutes,
  SkipThrottle,
  seconds,
  Throttle,
  ThrottlerGuard,
  ThrottlerModule,
  type ThrottlerModuleOptions,
  type ThrottlerStorage,
} from '@nestjs/throttler'
import type { Store } from '@sluice/core'
import { failingStore, manualClock } from '@sluice/core/testing'
import { postgresStore } from '@sluice/postgres'
import { describeUnless, useRedis } from '@sluice/test-harness/jest'
import { type PostgresServer, startPostgres, whyNoPostgres } from '@sluice/test-harness/postgres'
import { patient } from '@sluice/test-harness/redis'
import { Pool } from 'pg'
import request from 'supertest'
import { memoryStore, redisStore, type SluiceStorage, sluiceStorage } from './index.ts'

const redis = useRedis()
const clock = manualClock()
/** The next test starts a day later: whatever was counted has left all windows. */
afterEach(() => clock.advance(86_400_000))

const stores = [
  ['memory', () => memoryStore({ clock })],
  ['Redis', () => redisStore(redis.client, { clock })],
] as const
const platforms = [
  ['Express', () => new ExpressAdapter()],
  ['Fastify', () => new FastifyAdapter()],
] as const
const everywhere = stores.flatMap(([store, create]) =>
  platforms.map(([platform, adapter]) => [store, platform, create, adapter] as const),
)

const applications: INestApplication[] = []
afterEach(async () => {
  await Promise.all(applications.splice(0).map((app) => app.close()))
})

async function start(
  controller: Type,
  options: ThrottlerModuleOptions,
  adapter: ExpressAdapter | FastifyAdapter,
): Promise<Server> {
  @Module({
    imports: [ThrottlerModule.forRoot(options)],
    controllers: [controller],
    providers: [{ provide: APP_GUARD, useClass: ThrottlerGuard }],
  })
  class AppModule {}
  const app = await NestFactory.create(AppModule, adapter as AbstractHttpAdapter, { logger: false })
  applications.push(app)
  await app.init()
  if (adapter instanceof FastifyAdapter) await adapter.getInstance().ready()
  return app.getHttpServer()
}

/** What a response says of a throttler: status, limit, remaining, reset, time to wait. */
async function said(server: Server, path: string, name?: string): Promise<unknown[]> {
  const { status, headers } = await request(server).get(path)
  const suffix = name === undefined ? '' : `-${name}`
  const fields = ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset', 'retry-after']
  const values = fields.map((field) => headers[field + suffix])
  return [status, ...values.map((value) => value && Number(value))]
}

const admitted = (limit: number, remaining: number, reset: number) => [
  200,
  limit,
  remaining,
  reset,
  undefined,
]
const refused = (wait: number) => [429, undefined, undefined, undefined, wait]

describe.each(everywhere)('ThrottlerGuard with %s on %s', (_store, _platform, create, adapter) => {
  const storage = () => sluiceStorage({ ...patient, store: create() })
  /** An application with this storage. */
  const site = (controller: Type, options: Exclude<ThrottlerModuleOptions, unknown[]>) =>
    start(controller, { ...options, storage: storage() }, adapter())

  it('limits by the options of the module, of a class and of a handler', async () => {
    @Controller()
    @Throttle({ default: { limit: 2, ttl: seconds(10), blockDuration: seconds(5) } })
    class Limited {
      @Get('class')
      one() {}

      @Get('handler')
      @Throttle({ default: { limit: 3, ttl: seconds(10), blockDuration: seconds(15) } })
      two() {}
    }
    const server = await site(Limited, {
      throttlers: [{ limit: 5, ttl: minutes(1) }],
    })
    for (const [path, limit, block] of [
      ['/class', 2, 5],
      ['/handler', 3, 15],
    ] as const) {
      for (let i = 1; i <= limit; i += 1)
        expect(await said(server, path)).toEqual(admitted(limit, limit - i, 10))
      expect(await said(server, path)).toEqual(refused(block))
      clock.advance(1000)
      expect(await said(server, path)).toEqual(refused(block - 1))
      clock.advance(seconds(block) - 1001)
      expect(await said(server, path)).toEqual(refused(1))
      clock.advance(1)
      expect(await said(server, path)).toEqual(admitted(limit, limit - 1, 10))
    }
  })

  it('blocks for as long as the window by default, and counts each request for its ttl', async () => {
    @Controller()
    class Default {
      @Get()
      handle() {}
    }
    const server = await site(Default, { throttlers: [{ limit: 2, ttl: seconds(10) }] })
    expect(await said(server, '/')).toEqual(admitted(2, 1, 10))
    clock.advance(4000)
    expect(await said(server, '/')).toEqual(admitted(2, 0, 6))
    clock.advance(6000)
    expect(await said(server, '/')).toEqual(admitted(2, 0, 4))
    expect(await said(server, '/')).toEqual(refused(10))
    clock.advance(10_000)
    expect(await said(server, '/')).toEqual(admitted(2, 1, 10))
  })

  it('refuses again and again with POST, and says so in its body', async () => {
    @Controller()
    class Posted {
      @Post()
      @Throttle({ default: { limit: 1, ttl: 1000, blockDuration: 1000 } })
      handle() {}
    }
    const server = await site(Posted, { throttlers: [{ limit: 5, ttl: 1000 }] })
    const post = () => request(server).post('/')
    await post().expect(201)
    clock.advance(1000)
    await post().expect(201)
    const { body } = await post().expect(429)
    expect(body).toMatchObject({ statusCode: 429, message: /ThrottlerException/ })
    await post().expect(429)
  })

  it('leaves out handlers, user agents, and what skipIf says', async () => {
    @Controller()
    class Skipping {
      @Get('skipped')
      @SkipThrottle()
      skipped() {}

      @Get()
      handle() {}
    }
    const ignoreUserAgents = [/robot/]
    const throttlers = [{ limit: 1, ttl: 1000 }]
    const server = await site(Skipping, { throttlers, ignoreUserAgents })
    const untouched = [200, undefined, undefined, undefined, undefined]
    for (let i = 0; i < 3; i += 1) {
      expect(await said(server, '/skipped')).toEqual(untouched)
      await request(server).get('/').set('User-Agent', 'robot/1').expect(200)
    }
    expect(await said(server, '/')).toEqual(admitted(1, 0, 1))

    const skipping = await site(Skipping, { throttlers, skipIf: () => true })
    for (let i = 0; i < 3; i += 1) expect(await said(skipping, '/')).toEqual(untouched)
  })

  it('counts for several throttlers, each with its fields, and skips some of them', async () => {
    @Controller()
    class Several {
      @Get()
      handle() {}

      @Get('no-short')
      @SkipThrottle({ short: true })
      noShort() {}

      @Get('only-short')
      @SkipThrottle({ default: true, long: true })
      onlyShort() {}
    }
    const server = await site(Several, {
      throttlers: [
        { limit: 2, ttl: seconds(5) },
        { name: 'long', limit: 5, ttl: minutes(1) },
        { name: 'short', limit: 1, ttl: seconds(1) },
      ],
    })
    const remaining = async (path = '/') => {
      const { status, headers } = await request(server).get(path)
      if (status === 429)
        return Object.keys(headers).filter((each) => each.startsWith('retry-after'))
      return ['-short', '', '-long'].map((name) => headers[`x-ratelimit-remaining${name}`])
    }
    expect(await remaining()).toEqual(['0', '1', '4'])
    expect(await remaining()).toEqual(['retry-after-short'])
    clock.advance(1000)
    expect(await remaining()).toEqual(['0', '0', '3'])
    clock.advance(1000)
    expect(await remaining()).toEqual(['retry-after'])
    clock.advance(5000)
    expect(await remaining()).toEqual(['0', '1', '2'])
    clock.advance(1000)
    expect(await remaining()).toEqual(['0', '0', '1'])
    clock.advance(5000)
    expect(await remaining()).toEqual(['0', '1', '0'])
    clock.advance(1000)
    expect(await remaining()).toEqual(['retry-after-long'])

    expect(await remaining('/no-short')).toEqual([undefined, '1', '4'])
    expect(await remaining('/no-short')).toEqual([undefined, '0', '3'])
    expect(await remaining('/only-short')).toEqual(['0', undefined, undefined])
  })

  it('counts by the tracker and the key that the application gives', async () => {
    @Controller()
    class Keyed {
      @Get('own')
      @SkipThrottle({ shared: true })
      own() {}

      @Get('other')
      @SkipThrottle({ shared: true })
      other() {}

      @Get('a')
      @SkipThrottle({ default: true })
      a() {}

      @Get('b')
      @SkipThrottle({ default: true })
      b() {}
    }
    const server = await site(Keyed, {
      throttlers: [
        { limit: 1, ttl: seconds(3) },
        {
          name: 'shared',
          limit: 2,
          ttl: seconds(3),
          getTracker: () => 'everybody',
          generateKey: (_context, tracker) => tracker,
        },
      ],
    })
    expect(await said(server, '/own')).toEqual(admitted(1, 0, 3))
    expect(await said(server, '/other')).toEqual(admitted(1, 0, 3))
    expect(await said(server, '/own')).toEqual(refused(3))

    expect(await said(server, '/a', 'shared')).toEqual(admitted(2, 1, 3))
    expect(await said(server, '/b', 'shared')).toEqual(admitted(2, 0, 3))
    expect(await said(server, '/a', 'shared')).toEqual(refused(3))
    expect(await said(server, '/b', 'shared')).toEqual(refused(3))
    clock.advance(3000)
    expect(await said(server, '/a', 'shared')).toEqual(admitted(2, 1, 3))
    expect(await said(server, '/b', 'shared')).toEqual(admitted(2, 0, 3))
  })

  it('takes limits and windows that are functions of the request', async () => {
    @Controller()
    class Resolved {
      @Get()
      handle() {}
    }
    let limit = 1
    const server = await site(Resolved, {
      throttlers: [{ limit: async () => limit, ttl: () => seconds(2), blockDuration: 0 }],
    })
    expect(await said(server, '/')).toEqual(admitted(1, 0, 2))
    expect(await said(server, '/')).toEqual(refused(2))
    limit = 3
    expect(await said(server, '/')).toEqual(admitted(3, 1, 2))
  })

  it("gives the application's message the details, and leaves out the fields", async () => {
    @Controller()
    class Silent {
      @Get()
      handle() {}
    }
    const server = await site(Silent, {
      throttlers: [{ limit: 2, ttl: seconds(3) }],
      setHeaders: false,
      errorMessage: (context, { limit, totalHits, timeToBlockExpire }) =>
        `${context.getHandler().name} ${limit} ${totalHits} ${timeToBlockExpire}`,
    })
    for (let i = 0; i < 2; i += 1) {
      const { headers } = await request(server).get('/').expect(200)
      expect(headers).not.toHaveProperty('x-ratelimit-limit')
    }
    const { body, headers } = await request(server).get('/').expect(429)
    expect(body.message).toBe('handle 2 3 3')
    expect(headers).not.toHaveProperty('retry-after')
  })
})

describe.each(stores)('sluiceStorage with %s', (_, create) => {
  const made = (): ThrottlerStorage & SluiceStorage =>
    sluiceStorage({ ...patient, store: create() })

  it('without a block keeps refused requests out, so that they delay nothing', async () => {
    const storage = made()
    const hit = () => storage.increment('no block', 10_000, 2, 0, 'default')
    expect(await hit()).toEqual(record(1, 10, false, 0))
    clock.advance(1100)
    expect(await hit()).toEqual(record(2, 9, false, 0))
    clock.advance(1000)
    for (let i = 0; i < 3; i += 1) expect(await hit()).toEqual(record(3, 8, true, 8))
    clock.advance(7900)
    expect(await hit()).toEqual(record(2, 2, false, 0))
  })

  it('refuses everything with a limit of zero, and says a time', async () => {
    const storage = made()
    expect(await storage.increment('zero', 1000, 0, 0, 'default')).toEqual(record(1, 1, true, 1))
    expect(await storage.increment('zero', 1000, 0, 5000, 'default')).toMatchObject({
      isBlocked: true,
      timeToBlockExpire: 5,
    })
  })

  it('keeps keys and throttlers apart', async () => {
    const storage = made()
    for (const [key, name] of [
      ['one', 'default'],
      ['two', 'default'],
      ['one', 'named'],
    ] as const) {
      const hit = () => storage.increment(key, 1000, 1, 1000, name)
      expect((await hit()).isBlocked).toBe(false)
      expect((await hit()).isBlocked).toBe(true)
    }
  })
})

function record(totalHits: number, timeToExpire: number, isBlocked: boolean, wait: number) {
  return { totalHits, timeToExpire, isBlocked, timeToBlockExpire: wait }
}

it('ends a block that is shorter than the window in every process at the same time', async () => {
  // Their stores share nothing but the server: not what they remember of refusals.
  const processes = [1, 2, 3].map(() =>
    sluiceStorage({ deadline: '1m', store: redisStore(redis.client, { clock }) }),
  )
  const hit = async (process: SluiceStorage) =>
    (await process.increment('short', 10_000, 1, 2000, 'default')).isBlocked
  const all = () => Promise.all(processes.map(hit))
  expect(await all()).toEqual([false, true, true])
  clock.advance(1999)
  expect(await all()).toEqual([true, true, true])
  clock.advance(1)
  // It was refused while the block was on its way.
  expect(await hit(processes[2] as SluiceStorage)).toBe(false)
  for (const each of processes) each.onApplicationShutdown()
})

/** Expects that exactly the limit is admitted of simultaneous requests to two storages on a store. */
async function expectExact(create: () => Store | typeof redis.client): Promise<void> {
  const storages = [1, 2].map(() => sluiceStorage({ ...patient, store: create() }))
  for (const blockMs of [0, 1000, 86_400_000]) {
    const records = await Promise.all(
      Array.from({ length: 300 }, (_, i) =>
        storages[i % 2]?.increment(`exact ${blockMs}`, 86_400_000, 100, blockMs, 'default'),
      ),
    )
    const hits = records.filter((each) => each?.isBlocked === false).map((each) => each?.totalHits)
    expect(hits.sort((a = 0, b = 0) => a - b)).toEqual(Array.from({ length: 100 }, (_, i) => i + 1))
  }
  for (const storage of storages) storage.onApplicationShutdown()
}

describe('two applications', () => {
  it('admit exactly the limit together on Redis', () => expectExact(() => redis.client))

  describeUnless(whyNoPostgres(), 'on PostgreSQL', () => {
    let server: PostgresServer
    let pool: Pool
    beforeAll(async () => {
      server = await startPostgres()
      pool = new Pool({ connectionString: server.url })
      await postgresStore(pool).migrate()
    })
    afterAll(async () => {
      await pool?.end()
      await server?.stop()
    })

    it('admit exactly the limit together', () => expectExact(() => postgresStore(pool)))
  })
})

describe('sluiceStorage', () => {
  it('counts in memory by default, until the application closes', async () => {
    const storage = sluiceStorage()
    const hit = () => storage.increment('key', 86_400_000, 1, 0, 'default')
    expect((await hit()).isBlocked).toBe(false)
    expect((await hit()).isBlocked).toBe(true)
    storage.onApplicationShutdown()
    expect((await hit()).isBlocked).toBe(false)
  })

  it.each([
    ['a limit, which the throttlers have', { limit: 5 }],
    ['a ban, which blockDuration is', { ban: { after: 1, within: '1m', for: ['1m'] } }],
    ['no store', { store: 'redis' }],
  ])('throws for wrong options: %s', (_, wrong) => {
    expect(() => sluiceStorage(wrong as never)).toThrow(
      expect.objectContaining({ name: 'SluiceError' }),
    )
  })

  it.each([
    ['local', 1, [false, true]],
    ['allow', 0, [false, false]],
    ['deny', 2, [true, true]],
  ] as const)(
    'while the store fails decides as onStoreError says: %s',
    async (mode, hits, blocked) => {
      const store = failingStore()
      store.fail()
      const storage = sluiceStorage({ store, onStoreError: mode })
      const hit = () => storage.increment('key', 86_400_000, 1, 1000, 'default')
      const records = [await hit(), await hit()]
      expect(records[0]?.totalHits).toBe(hits)
      expect(records.map(({ isBlocked }) => isBlocked)).toEqual(blocked)
    },
  )

  it('accepts a hundred combinations of a ttl and a block, so that a client cannot make more', async () => {
    const storage = sluiceStorage()
    const hit = (ttl: number) => storage.increment('key', ttl, 1, 0, 'default')
    for (let ttl = 1; ttl < 100; ttl += 1) await hit(ttl)
    await expect(hit(100)).rejects.toThrow(expect.objectContaining({ code: 'SLUICE_OPTION_RANGE' }))
    await expect(hit(99)).resolves.toBeDefined()
  })
})
