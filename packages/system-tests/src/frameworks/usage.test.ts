import 'reflect-metadata'
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createAdaptorServer, getRequestListener } from '@hono/node-server'
import { afterEach, describe, expect, test } from '@jest/globals'
import { Controller, Get, Inject, Module, Req, Res } from '@nestjs/common'
import { APP_GUARD, NestFactory } from '@nestjs/core'
import type { Limiter } from '@sluice/core'
import { manualClock } from '@sluice/core/testing'
import { rateLimit as expressLimit, memoryStore } from '@sluice/express'
import { rateLimit as fastifyLimit } from '@sluice/fastify'
import { rateLimit as honoLimit, limitFetch } from '@sluice/hono'
import { rateLimit as koaLimit } from '@sluice/koa'
import { RateLimitGuard, RateLimitModule, RateLimits, SkipRateLimit } from '@sluice/nest'
import { rateLimit as nodeLimit } from '@sluice/node'
import express from 'express'
import fastify from 'fastify'
import { type Context, Hono } from 'hono'
import Koa from 'koa'

const clock = manualClock(Date.UTC(2026, 0, 10))
const MONTH_ENDS = '2026-02-01T00:00:00.000Z'
const store = () => memoryStore({ clock })

/** The options, whatever a framework calls its request. @param headerOf reads a field */
function optionsOf<Request>(headerOf: (request: Request, name: string) => string | undefined) {
  return {
    store: store(),
    key: (request: Request) => headerOf(request, 'x-key') ?? 'nobody',
    cost: (request: Request) => Number(headerOf(request, 'x-cost')),
    policies: [
      { name: 'month', limit: 100, window: 'month' },
      { name: 'burst', limit: 10, window: '1m' },
    ],
    ban: { after: 1, within: '1m', for: ['1h'] },
  } as const
}

const ofNode = (request: IncomingMessage, name: string) => request.headers[name]?.toString()

type Running = { server: Server; limiter: Limiter }
const listening = (listener: RequestListener) => createServer(listener)

const FRAMEWORKS: Record<string, () => Running | Promise<Running>> = {
  Express: () => {
    const limit = expressLimit(optionsOf(ofNode))
    const app = express().get('/usage', limit.usage()).use(limit)
    app.get('/', (_, response) => void response.end('served'))
    return { server: listening(app), limiter: limit.limiter }
  },
  Fastify: async () => {
    const app = fastify()
    await app.register(
      fastifyLimit,
      optionsOf((request, name) => ofNode(request.raw, name)),
    )
    app.get('/usage', { config: { rateLimit: false } }, app.rateLimit.usage())
    app.get('/', async () => 'served')
    await app.ready()
    return { server: app.server, limiter: app.rateLimit }
  },
  Koa: () => {
    const limit = koaLimit(optionsOf((ctx, name) => ctx.get(name) || undefined))
    const app = new Koa()
    const usage = limit.usage()
    app.use((ctx, next) => (ctx.path === '/usage' ? usage(ctx, next) : next()))
    app.use(limit).use((ctx) => {
      ctx.body = 'served'
    })
    return { server: listening(app.callback()), limiter: limit.limiter }
  },
  Hono: () => {
    const address = () => '127.0.0.1'
    const limit = honoLimit({ ...optionsOf((c: Context, name) => c.req.header(name)), address })
    const app = new Hono()
      .get('/usage', limit.usage())
      .use(limit)
      .get('/', (c) => c.text('served'))
    return { server: createAdaptorServer(app) as Server, limiter: limit.limiter }
  },
  'a function of a Request': () => {
    const options = optionsOf<Request>((request, name) => request.headers.get(name) ?? undefined)
    const limited = limitFetch(options, () => new Response('served'))
    const fetch = (request: Request) =>
      new URL(request.url).pathname === '/usage' ? limited.usage(request) : limited(request)
    return { server: listening(getRequestListener(fetch)), limiter: limited.limiter }
  },
  Node: () => {
    const limit = nodeLimit(optionsOf(ofNode))
    const usage = limit.usage()
    const serve: RequestListener = (request, response) =>
      request.url === '/usage'
        ? void usage(request, response)
        : void limit(request, response, () => response.end('served'))
    return { server: listening(serve), limiter: limit.limiter }
  },
  NestJS: async () => {
    @Controller()
    class Pages {
      @Inject(RateLimits) private readonly limits!: RateLimits

      @Get('usage')
      @SkipRateLimit()
      usage(@Req() request: object, @Res() response: object) {
        return this.limits.usage(request, response)
      }

      @Get()
      serve() {
        return 'served'
      }
    }
    @Module({
      imports: [RateLimitModule.forRoot(optionsOf(ofNode))],
      controllers: [Pages],
      providers: [{ provide: APP_GUARD, useClass: RateLimitGuard }],
    })
    class Application {}
    const app = await NestFactory.create(Application, { logger: false })
    await app.init()
    return { server: app.getHttpServer(), limiter: app.get(RateLimits).limiter }
  },
}

const ends: (() => void)[] = []
afterEach(() => {
  for (const end of ends.splice(0)) end()
})

async function listen({ server }: Running) {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  ends.push(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return (path: string, headers: Record<string, string> = {}) =>
    fetch(`http://127.0.0.1:${port}${path}`, { headers })
}

describe.each(Object.keys(FRAMEWORKS))('usage, %s', (name) => {
  const start = FRAMEWORKS[name] as () => Promise<Running>

  test('each policy of the caller, charged nothing, not stored, and of nobody else', async () => {
    const running = await start()
    const get = await listen(running)
    for (const key of ['ada', 'ada', 'ben']) await get('/', { 'x-key': key, 'x-cost': '3' })
    await running.limiter.override('ada', { policy: 'month', limit: 50 })
    await running.limiter.grant('ada', 7, { policy: 'month' })
    const response = await get('/usage', { 'x-key': 'ada' })
    expect(response.status).toBe(200)
    expect(response.headers.get('cache-control')).toBe('no-store')
    expect(response.headers.get('content-type')).toBe('application/json')
    const text = await response.text()
    expect(JSON.parse(text)).toEqual({
      at: '2026-01-10T00:00:00.000Z',
      complete: true,
      policies: [
        {
          policy: 'month',
          unit: 'requests',
          limit: 57,
          ordinaryLimit: 100,
          used: 6,
          remaining: 51,
          resetsAt: MONTH_ENDS,
          windowMs: 2_678_400_000,
        },
        expect.objectContaining({ policy: 'burst', limit: 10, used: 6, remaining: 4 }),
      ],
    })
    for (const key of ['ada', 'ben', 'key:']) expect(text).not.toContain(key)
    for (let i = 0; i < 20; i += 1) await get('/usage', { 'x-key': 'ada' })
    expect(await (await get('/usage', { 'x-key': 'ada' })).text()).toBe(text)
    expect(await (await get('/usage')).json()).toMatchObject({
      policies: [{ used: 0 }, { used: 0 }],
    })
  })

  test('a browser gets a page', async () => {
    const get = await listen(await start())
    const response = await get('/usage', {
      accept: 'text/html,application/xhtml+xml',
      'x-key': 'a',
    })
    expect(response.headers.get('content-type')).toMatch(/^text\/html; charset=utf-8$/i)
    expect(response.headers.get('cache-control')).toBe('no-store')
    expect(response.headers.get('vary')).toContain('Accept')
    expect(await response.text()).toContain('<th scope="row">month</th><td>0</td><td>100</td>')
  })

  test('a browser of a client that is banned gets a page, and all of it', async () => {
    const running = await start()
    const get = await listen(running)
    for (let i = 0; i < 4; i += 1) await running.limiter.consume('eve', { cost: 10 })
    const page = await (await get('/usage', { accept: 'text/html', 'x-key': 'eve' })).text()
    expect(page).toContain('<th scope="row">month</th><td>–</td><td>0</td>')
    expect(page).toMatch(/<\/html>\n$/)
  })
})

describe('what concerns the caller', () => {
  const usageWith = async (options: object, act: (limiter: Limiter) => unknown = () => {}) => {
    const limit = expressLimit({ store: store(), limit: 5, window: '1m', ...options } as never)
    await act(limit.limiter)
    const app = express().get('/usage', limit.usage())
    const response = await (await listen({ server: listening(app), limiter: limit.limiter }))(
      '/usage',
    )
    return { status: response.status, ...((await response.json()) as object) }
  }
  const KEY = '127.0.0.1'

  test('a dry run refuses nothing', async () => {
    const usage = await usageWith({ dryRun: true }, (limiter) => limiter.consume(KEY, { cost: 5 }))
    expect(usage).toMatchObject({ policies: [{ used: 5, remaining: 0, dryRun: true }] })
  })

  test('a limit of its own that is higher, and the ordinary one', async () => {
    const usage = await usageWith({}, (limiter) => limiter.override(KEY, { limit: 9 }))
    expect(usage).toMatchObject({ policies: [{ limit: 9, ordinaryLimit: 5 }] })
  })

  test('a ban of a dry run refuses nothing, so it has no end', async () => {
    const ban = { after: 1, within: '1m', for: ['10m'] }
    const usage = await usageWith({ ban, dryRun: true }, (limiter) => {
      for (let i = 0; i < 7; i += 1) limiter.consume(KEY)
    })
    expect(usage).toMatchObject({ policies: [{ remaining: 0, dryRun: true }] })
    expect(usage).not.toHaveProperty('bannedUntil')
  })

  test('a ban, until when, and not what was used', async () => {
    const ban = { after: 1, within: '1m', for: ['10m'] }
    const usage = await usageWith({ ban }, (limiter) => {
      for (let i = 0; i < 7; i += 1) limiter.consume(KEY)
    })
    expect(usage).toMatchObject({ bannedUntil: '2026-01-10T00:10:00.000Z' })
    expect(usage).toMatchObject({ policies: [{ remaining: 0 }] })
    expect(JSON.stringify(usage)).not.toContain('used')
  })

  test.each([
    [[KEY, 'ada'], '10', [{ route: '/costly', bannedUntil: '2026-01-10T00:14:00.000Z' }]],
    [['ada', KEY], '14', undefined],
    [['ada'], undefined, [{ route: '/costly', bannedUntil: '2026-01-10T00:10:00.000Z' }]],
  ])('bans by its keys of several routes: %j', async (keys, minute, ofRoutes) => {
    const own = manualClock(Date.UTC(2026, 0, 10))
    const ban = { after: 1, within: '1m', for: ['10m'] }
    const routes = { '/costly': { key: () => 'ada', limit: 2, window: '1h' } }
    const options = { store: memoryStore({ clock: own }), ban, routes }
    const usage = await usageWith(options, (limiter) => {
      for (const key of keys) {
        for (let i = 0; i < 7; i += 1) limiter.consume(key)
        own.advance(240_000)
      }
    })
    const { bannedUntil, routes: banned } = usage as { bannedUntil?: string; routes?: unknown }
    expect(bannedUntil).toBe(minute && `2026-01-10T00:${minute}:00.000Z`)
    expect(banned).toEqual(ofRoutes)
  })

  test('a blocked network', async () => {
    const usage = await usageWith({}, (limiter) =>
      limiter.block('127.0.0.0/8', '5m', { network: true }),
    )
    expect(usage).toMatchObject({ bannedUntil: '2026-01-10T00:05:00.000Z' })
  })

  test.each(['allow', 'deny'])('%s', async (list) => {
    expect(await usageWith({ [list]: [KEY] })).toMatchObject({ listed: list, policies: [] })
  })

  test('routes with limits of their own, and those without once', async () => {
    const routes = {
      'POST /login': { limit: 2, window: '1h' },
      '/costly': { cost: 3 },
      '/free': false,
    }
    expect(await usageWith({ routes })).toMatchObject({
      policies: [{ limit: 5 }, { limit: 2, route: '/login' }],
    })
  })

  test('what skip exempts has its usage all the same', async () => {
    expect(await usageWith({ skip: () => true })).toMatchObject({ policies: [{ used: 0 }] })
  })

  test('slots in use, which have no window, and are not taken', async () => {
    const usage = await usageWith({ limit: undefined, window: undefined, concurrent: 3 })
    expect(usage).toMatchObject({ policies: [{ unit: 'concurrent-requests', used: 0, limit: 3 }] })
    expect(JSON.stringify(usage)).not.toContain('windowMs')
  })

  test('an estimate that waits for its stream, and a cost that is not asked for', async () => {
    const cost = () => {
      throw new Error('a request for usage has no body')
    }
    const usage = await usageWith({ reserve: true, cost, settle: () => 1 })
    expect(usage).toMatchObject({ policies: [{ used: 0, remaining: 5 }] })
  })

  test('a store that does not answer', async () => {
    const down = {
      mode: 'async',
      open: () => ({ decide: () => new Promise(() => {}), change: () => new Promise(() => {}) }),
      close() {},
    }
    const options = { store: down, deadline: '20ms' }
    expect(await usageWith({ ...options, onStoreError: 'deny' })).toMatchObject({
      status: 503,
      complete: false,
      policies: [],
    })
    expect(await usageWith({ ...options, onStoreError: 'local' })).toMatchObject({
      status: 200,
      complete: false,
    })
  })

  test('a name with markup stays text on the page', async () => {
    const limit = expressLimit({ policies: [{ name: 'a<b<c', limit: 5, window: '1m' }] } as never)
    const app = express().get('/usage', limit.usage())
    const get = await listen({ server: listening(app), limiter: limit.limiter })
    const page = await (await get('/usage', { accept: 'text/html' })).text()
    expect(page).toContain('a&#60;b&#60;c')
    expect(page).not.toContain('b<c')
    limit.limiter.close()
  })

  test('what a key function throws goes to the error handler', async () => {
    const key = () => {
      throw new Error('no key')
    }
    const limit = expressLimit({ limit: 5, window: '1m', key } as never)
    const app = express().get('/usage', limit.usage())
    app.use(((_error, _request, response, _next) =>
      response.status(500).end()) as express.ErrorRequestHandler)
    const get = await listen({ server: listening(app), limiter: limit.limiter })
    expect((await get('/usage')).status).toBe(500)
    limit.limiter.close()
  })
})
