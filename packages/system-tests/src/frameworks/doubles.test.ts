// Middleware called by hand, as unit tests do: what it returns, and requests that a test has made.

import { EventEmitter } from 'node:events'
import { Readable } from 'node:stream'
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals'
import type { ExecutionContext } from '@nestjs/common'
import * as express from '@sluice/express'
import * as fastify from '@sluice/fastify'
import * as hono from '@sluice/hono'
import * as koa from '@sluice/koa'
import { RateLimitGuard, RateLimits } from '@sluice/nest'
import * as node from '@sluice/node'
import { type RedisServer, startRedis } from '@sluice/test-harness/redis'
import Fastify from 'fastify'
import { Redis } from 'ioredis'
import Koa from 'koa'
import { createRequest, createResponse } from 'node-mocks-http'

const ONCE = { limit: 1, window: '1h' } as const

/** What a test of the application calls. */
type Middleware = (request: never, response: never, next: never) => unknown

/** The frameworks whose middleware gets a request, a response and `next`. */
const CALLED: [string, (options: never) => Middleware][] = [
  ['Express', express.rateLimit as never],
  ['Node', node.rateLimit as never],
]

/** What became of a request: whether it went on, and the status of its response. */
async function outcome(middleware: Middleware, request: object, response = createResponse()) {
  const next = jest.fn()
  await middleware(request as never, response as never, next as never)
  return next.mock.calls.length > 0 ? 'next' : response.statusCode
}

let server: RedisServer
let client: Redis
beforeAll(async () => {
  jest.spyOn(process, 'emitWarning').mockImplementation(() => {})
  server = await startRedis()
  client = new Redis(server.port)
})
afterAll(async () => {
  client.disconnect()
  await server.stop()
})

test('without an application, routes of Express match by its default settings', async () => {
  const limit = express.rateLimit({ ...ONCE, routes: { '/other': false } } as never) as never
  for (const path of ['/OTHER', '/other/', '/Other/', '/other'])
    expect(await outcome(limit, createRequest({ method: 'GET', url: path }))).toBe('next')
  for (const expected of ['next', 429])
    expect(await outcome(limit, createRequest({ method: 'GET', url: '/others' }))).toBe(expected)
})

describe.each(CALLED)('%s', (name, rateLimit) => {
  test.each([
    ['nothing', {}],
    ['no socket', { headers: {} }],
    ['an address', { headers: {}, ip: '127.0.0.1' }],
    ['the fields of a proxy', { headers: { 'x-forwarded-for': '192.0.2.1' }, method: 'GET' }],
    ['what node-mocks-http makes', createRequest({ method: 'GET', url: '/' })],
  ])('a request with %s is limited', async (_, request) => {
    const options = { ...ONCE, routes: { '/other': false }, key: 'user', skip: () => false }
    const limit = rateLimit(options as never)
    expect(await outcome(limit, request)).toBe('next')
    expect(await outcome(limit, { ...request })).toBe(429)
    const behindProxy = rateLimit({ ...ONCE, trustProxy: 'loopback' } as never)
    expect(await outcome(behindProxy, request)).toBe('next')
  })

  test('await means that next was called: in memory, on Redis, after a delay', async () => {
    const slow = { limit: 1, window: '50ms', algorithm: 'leaky-bucket', maxDelay: '1h' }
    const remote = { ...ONCE, limit: 9, store: client, prefix: name, deadline: '1m' }
    for (const options of [{ ...ONCE, limit: 9 }, remote, slow]) {
      const limit = rateLimit(options as never)
      for (let i = 0; i < 3; i += 1) expect(await outcome(limit, { headers: {} })).toBe('next')
    }
  })

  test('await means that a refusal was sent, by an async respond too', async () => {
    const respond = async (_: unknown, __: unknown, response: { end(body: string): void }) => {
      await new Promise(setImmediate)
      response.end('no')
    }
    for (const store of [undefined, client]) {
      const options = {
        ...ONCE,
        limit: 0,
        store,
        prefix: `${name}-respond`,
        respond,
        deadline: '1m',
      }
      const response = createResponse()
      expect(await outcome(rateLimit(options as never), {}, response)).toBe(429)
      expect([response._isEndCalled(), response._getData()]).toEqual([true, 'no'])
    }
  })

  test('await waits for an async next, and gets its error once', async () => {
    for (const store of [undefined, client]) {
      const limit = rateLimit({
        ...ONCE,
        limit: 9,
        store,
        prefix: `${name}-next`,
        deadline: '1m',
      } as never)
      const done = jest.fn()
      const call = (next: () => Promise<void>) =>
        limit({} as never, createResponse() as never, next as never)
      await call(() => new Promise(setImmediate).then(() => void done()))
      expect(done).toHaveBeenCalledTimes(1)
      const failing = jest.fn(() => Promise.reject(new Error('of the application')))
      await expect(call(failing)).rejects.toThrow('of the application')
      expect(failing).toHaveBeenCalledTimes(1)
    }
  })

  test('responses of node-mocks-http are settled, and free their slots', async () => {
    const settle = jest.fn(() => 0)
    const options = {
      policies: [
        { name: 'a', limit: 1, window: '1h', settle },
        { name: 'b', concurrent: 1 },
      ],
    }
    const limit = rateLimit(options as never)
    for (let i = 1; i < 4; i += 1) {
      const response = createResponse({ eventEmitter: EventEmitter })
      expect(await outcome(limit, {}, response)).toBe('next')
      response.end()
      await new Promise(setImmediate)
      expect(settle).toHaveBeenCalledTimes(i)
    }
  })

  test('a response without setHeader is an error that says so', () => {
    const limit = rateLimit(ONCE as never)
    const failed = jest.fn()
    const call = () => limit({} as never, {} as never, failed as never)
    const error = expect.objectContaining({ code: 'SLUICE_REQUEST', option: 'response.setHeader' })
    expect(call).toThrow(error)
    expect(failed).not.toHaveBeenCalled()
  })
})

describe('Koa', () => {
  test('a context of Koa around requests of node-mocks-http is limited', async () => {
    const app = new Koa()
    for (const store of [undefined, client]) {
      const limit = koa.rateLimit({ ...ONCE, store, prefix: 'koa', deadline: '1m' })
      const statuses: (number | 'next')[] = []
      for (let i = 0; i < 2; i += 1) {
        const ctx = app.createContext(createRequest(), createResponse())
        const next = jest.fn(() => new Promise<void>((resolve) => setImmediate(resolve)))
        await limit(ctx as never, next)
        statuses.push(next.mock.calls.length > 0 ? 'next' : ctx.status)
      }
      expect(statuses).toEqual(['next', 429])
    }
  })

  test.each([
    {},
    { headers: {} },
    { headers: {}, ip: '127.0.0.1' },
    { req: createRequest(), res: createResponse() },
  ])('%j is an error that says so', async (ctx) => {
    const next = jest.fn(async () => {})
    const called = koa.rateLimit({ ...ONCE, concurrent: undefined })(ctx as never, next)
    await expect(called).rejects.toMatchObject({ code: 'SLUICE_REQUEST', option: 'ctx' })
    expect(next).not.toHaveBeenCalled()
  })
})

test.each([{}, { headers: {} }, { headers: {}, ip: '127.0.0.1' }])(
  'Fastify, Hono and fetch: %j is an error that says so',
  async (double) => {
    const code = 'SLUICE_REQUEST'
    const app = Fastify()
    await app.register(fastify.rateLimit, ONCE)
    const hook = app.rateLimit.hook(ONCE)
    expect(() => hook(double as never, {} as never, () => {})).toThrow(
      expect.objectContaining({ code, option: 'request' }),
    )
    const raw = { raw: double } as never
    expect(() => hook(raw, {} as never, () => {})).toThrow(
      expect.objectContaining({ code, option: 'response.setHeader' }),
    )
    await app.close()

    const address = () => '127.0.0.1'
    const limit = hono.rateLimit({ ...ONCE, address })
    const next = jest.fn(async () => {})
    await expect(limit(double as never, next)).rejects.toMatchObject({ code, option: 'c' })
    const bare = { ...double, header: () => {} } as never
    await expect(limit(bare, next)).rejects.toMatchObject({ code, option: 'request' })
    expect(next).not.toHaveBeenCalled()
    const limited = hono.limitFetch({ ...ONCE, address }, () => new Response())
    await expect(limited(double as never)).rejects.toMatchObject({ code, option: 'request' })
    expect((await limited(new Request('http://localhost/'))).status).toBe(200)
  },
)

describe('Nest', () => {
  class Controller {
    handle() {}
  }
  const contextOf = (request: object, response: object) =>
    ({
      getClass: () => Controller,
      getHandler: () => Controller.prototype.handle,
      switchToHttp: () => ({ getRequest: () => request, getResponse: () => response }),
    }) as unknown as ExecutionContext

  test.each([{}, { headers: {} }, { headers: {}, ip: '127.0.0.1' }, createRequest()])(
    'the guard limits the request %#',
    async (request) => {
      const guard = new RateLimitGuard(new RateLimits(ONCE))
      // As Nest makes one for each call of a handler.
      const ask = async () => guard.canActivate(contextOf(request, createResponse()))
      expect(await ask()).toBe(true)
      await expect(ask()).rejects.toThrow('Quota Exceeded')
    },
  )

  test('a response without setHeader is an error that says so', () => {
    const guard = new RateLimitGuard(new RateLimits(ONCE))
    expect(() => guard.canActivate(contextOf({}, { header: () => {} }))).toThrow(
      expect.objectContaining({ code: 'SLUICE_REQUEST', option: 'response.setHeader' }),
    )
  })
})

test('the message shows nothing of the request', async () => {
  const secret = { headers: { authorization: 'Bearer secret' }, body: Readable.from(['secret']) }
  const called = koa.rateLimit(ONCE)(secret as never, async () => {})
  await expect(called).rejects.toThrow(/^ctx: .* Expected a context of Koa, received undefined\./)
})
