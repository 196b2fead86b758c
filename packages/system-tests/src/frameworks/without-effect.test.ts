// Mistakes that leave everything unlimited, or nothing exempt: each is said once, at start or at the first request.

import 'reflect-metadata'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals'
import Router from '@koa/router'
import { Controller, Get, Inject, Module, UseGuards } from '@nestjs/common'
import { APP_GUARD, NestFactory } from '@nestjs/core'
import { rateLimit as expressLimit } from '@sluice/express'
import { rateLimit as fastifyLimit } from '@sluice/fastify'
import { rateLimit as koaLimit } from '@sluice/koa'
import { RateLimitGuard, RateLimitModule, RateLimits } from '@sluice/nest'
import express5, { type RequestHandler } from 'express'
import express4 from 'express4'
import fastify, { type FastifyInstance } from 'fastify'
import Koa from 'koa'
import serverless from 'serverless-http'

const options = { limit: 5, window: '1h' } as const

const codes: (string | undefined)[] = []
beforeEach(() => {
  codes.length = 0
  jest.spyOn(process, 'emitWarning').mockImplementation(((_: string, { code }: never) => {
    codes.push(code)
  }) as typeof process.emitWarning)
})

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0)) await end()
  jest.restoreAllMocks()
})

async function ask(listener: RequestListener, path = '/nowhere') {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  ends.push(() => server.close())
  const { port } = server.address() as AddressInfo
  const send = async () =>
    (await fetch(`http://127.0.0.1:${port}${path}`, { headers: { Connection: 'close' } })).status
  return [await send(), await send()]
}

test.each([
  ['Express 5', express5],
  ['Express 4', express4 as unknown as typeof express5],
])('%s: a limiter behind all routes', async (_, express) => {
  const first = () => express().get('/', (_, response) => void response.end())
  await ask(first().use(expressLimit(options), (_, response) => void response.end()))
  await ask(express().use(expressLimit(options)))
  await ask(
    first()
      .use(expressLimit(options))
      .get('/other', (_, response) => void response.end()),
  )
  expect(codes).toEqual([])
})

test('Express: a limiter behind all routes is named once', async () => {
  const app = express5().get('/', (_, response) => void response.end())
  await ask(app.use(expressLimit(options)))
  expect(codes).toEqual(['SLUICE_AFTER_ROUTES'])
})

test('Koa: a limiter behind the router is told from one before it', async () => {
  const router = new Router().get('/', (ctx) => {
    ctx.body = 'home'
  })
  await ask(new Koa().use(koaLimit(options)).use(router.routes()).callback())
  await ask(
    new Koa()
      .use(router.routes())
      .use(koaLimit(options))
      .use(() => {})
      .callback(),
  )
  expect(codes).toEqual([])
  const last = new Koa().use(router.routes()).use(koaLimit(options))
  await ask(last.callback())
  // The process has given this warning, of Express.
  expect(codes).toEqual([])
})

test('Fastify: a limiter in a plugin without routes', async () => {
  const start = async (plugin: (app: FastifyInstance) => Promise<unknown>) => {
    const app = fastify()
    ends.push(() => app.close())
    app.get('/', async () => 'outside')
    app.register(plugin)
    await app.ready()
    return [...codes]
  }
  expect(await start((app) => app.register(fastifyLimit, options) as never)).toEqual([
    'SLUICE_SCOPE_EMPTY',
  ])
})

test('Fastify: a limiter in a plugin with routes, before or after it, or on the application', async () => {
  for (const before of [true, false]) {
    const app = fastify()
    ends.push(() => app.close())
    app.register(async (scope) => {
      if (before) scope.get('/a', async () => 'a')
      await scope.register(fastifyLimit, options)
      if (!before) scope.get('/a', async () => 'a')
    })
    await app.ready()
  }
  const app = fastify()
  ends.push(() => app.close())
  app.get('/', async () => 'before')
  await app.register(fastifyLimit, options)
  await app.ready()
  expect(codes).toEqual([])
})

const BY_HAND = ['a constructor', 'a property', 'a factory', 'app.get']

test.each(['APP_GUARD', '@UseGuards', 'useGlobalGuards', ...BY_HAND, 'nothing'])(
  'NestJS: the module with %s',
  async (way) => {
    class Logins {}
    if (way === 'a constructor') Inject(RateLimits)(Logins, undefined as never, 0)
    if (way === 'a property') Inject(RateLimits)(Logins.prototype, 'limits')
    const factory = { provide: 'logins', useFactory: () => ({}), inject: [RateLimits] }
    @Controller()
    class Pages {
      @Get()
      home() {
        return 'home'
      }
    }
    if (way === '@UseGuards') UseGuards(RateLimitGuard)(Pages)
    @Module({
      imports: [RateLimitModule.forRoot(options)],
      controllers: [Pages],
      providers: [
        Logins,
        ...(way === 'APP_GUARD' ? [{ provide: APP_GUARD, useClass: RateLimitGuard }] : []),
        ...(way === 'a factory' ? [factory] : []),
      ],
    })
    class Application {}
    const app = await NestFactory.create(Application, { logger: false })
    ends.push(() => app.close())
    if (way === 'useGlobalGuards') app.useGlobalGuards(new RateLimitGuard(app.get(RateLimits)))
    if (way === 'app.get') expect(app.get(RateLimits).limiter).toBeDefined()
    await app.init()
    expect(codes).toEqual(way === 'nothing' ? ['SLUICE_NO_GUARD'] : [])
  },
)

test('skip without a return', async () => {
  const app = (skip: unknown) =>
    express5().use(
      expressLimit({ ...options, skip: skip as () => boolean }),
      (_, response) => void response.end(),
    )
  for (const skip of [
    ({ user }: { user?: { admin?: boolean } }) => user?.admin,
    () => {
      return undefined
    },
    async () => undefined,
  ])
    await ask(app(skip))
  expect(codes).toEqual([])
  await ask(
    app((request: { path: string }) => {
      request.path
    }),
  )
  expect(codes).toEqual(['SLUICE_SKIP_NOTHING'])
})

test('deny by address, where the key function reads another address', async () => {
  const app = (key: () => string) =>
    express5().use(
      expressLimit({ ...options, key, deny: ['198.51.100.0/24'] }),
      (_, response) => void response.end(),
    )
  await ask(app(() => 'abc'))
  await ask(app(() => '127.0.0.1'))
  expect(codes).toEqual([])
  await ask(app(() => '198.51.100.7'))
  expect(codes).toEqual(['SLUICE_LIST_ADDRESS'])
})

test("Express behind serverless-http, which sets the request's address itself", async () => {
  const statuses = async (limit: RequestHandler, setting: number) => {
    const app = express5().set('trust proxy', setting)
    const handler = serverless(app.use(limit, (_, response) => void response.end()))
    const sent: number[] = []
    // The edge of the CDN is the client of API Gateway, and another one each time.
    for (const edge of ['192.0.2.1', '192.0.2.2']) {
      const headers = { 'x-forwarded-for': `203.0.113.7, ${edge}` }
      const http = { method: 'GET', path: '/', sourceIp: edge, protocol: 'HTTP/1.1' }
      const event = { version: '2.0', rawPath: '/', headers, requestContext: { http } }
      sent.push(((await handler(event, {})) as { statusCode: number }).statusCode)
    }
    return sent
  }
  const one = { limit: 1, window: '1h' } as const
  expect(await statuses(expressLimit({ ...one, trustProxy: 2 }), 2)).toEqual([200, 429])
  expect(codes).toEqual([])
  expect(await statuses(expressLimit(one), 2)).toEqual([200, 200])
  expect(codes).toEqual(['SLUICE_PROXY_IGNORED'])
})
