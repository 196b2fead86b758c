import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals'
import type { Decision, Limiter } from '@sluice/core'
import * as expressAdapter from '@sluice/express'
import * as fastifyAdapter from '@sluice/fastify'
import * as koaAdapter from '@sluice/koa'
import { type RedisServer, startRedis } from '@sluice/test-harness/redis'
import { send } from '@sluice/test-suites/client'
import express from 'express'
import fastify from 'fastify'
import { Redis } from 'ioredis'
import Koa from 'koa'

/** The options, which are alike for every framework except for the types of its requests. */
type Options = object

/** A server with `GET /` and `POST /login`, whose limit is its own, and the limiter of both. */
interface Site {
  readonly server: Server
  readonly limiter: Limiter
}

/** Header fields of a request. */
type Fields = Readonly<Record<string, string>>

const FRAMEWORKS: Record<string, (options: Options, login: object) => Promise<Site>> = {
  async Express(options, login) {
    const routes = { 'POST /login': login, '/health': false }
    const limit = expressAdapter.rateLimit({ ...options, routes } as never)
    const app = express().set('trust proxy', 'loopback')
    app.use((request, _, next) => {
      Object.assign(request, { user: userOf(request.headers as Fields) })
      next()
    })
    app.use(limit, (_, response) => void response.send('served'))
    return { server: createServer(app), limiter: limit.limiter }
  },
  async Koa(options, login) {
    const routes = { 'POST /login': login, '/health': false }
    const limit = koaAdapter.rateLimit({ ...options, trustProxy: 'loopback', routes } as never)
    const app = new Koa()
    app.use((ctx, next) => {
      ctx.state.user = userOf(ctx.headers as Fields)
      return next()
    })
    app.use(limit).use((ctx) => {
      ctx.body = 'served'
    })
    return { server: createServer(app.callback()), limiter: limit.limiter }
  },
  async Fastify(options, login) {
    const app = fastify({ trustProxy: 'loopback' })
    app.decorateRequest('user', undefined)
    app.addHook('onRequest', async (request) => {
      Object.assign(request, { user: userOf(request.headers as Fields) })
    })
    await app.register(fastifyAdapter.rateLimit, options as never)
    app.get('/', async () => 'served')
    app.post('/login', { config: { rateLimit: login as never } }, async () => 'served')
    await app.ready()
    return { server: app.server, limiter: app.rateLimit }
  },
}

const userOf = (headers: Fields) => (headers['x-user'] ? { id: headers['x-user'] } : undefined)
const ADDRESS = '203.0.113.7'
const HOME = { 'x-forwarded-for': ADDRESS }
const NETWORK = { 'x-forwarded-for': '2001:db8:1:2ff::1' }

let redis: RedisServer
let client: Redis
beforeAll(async () => {
  redis = await startRedis()
  client = new Redis(redis.port, redis.host)
})
afterAll(async () => {
  client.disconnect()
  await redis.stop()
})

const servers: Server[] = []
afterEach(async () => {
  await client.flushall()
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    server.close()
  }
})

describe.each(Object.keys(FRAMEWORKS))('the limiter of a middleware in %s', (adapter) => {
  describe.each(['memory', 'Redis'])('on %s', (kind) => {
    async function serve(options: object = {}, login: object = { limit: 9, window: '1d' }) {
      const store = kind === 'memory' ? undefined : client
      const base = { limit: 5, window: '1d', deadline: '1m', store, ...options }
      const start = FRAMEWORKS[adapter] as (typeof FRAMEWORKS)[string]
      const { server, limiter } = await start(base, login)
      servers.push(server)
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      const { port } = server.address() as AddressInfo
      const ask = async (headers: Fields, method = 'GET', path = '/') =>
        (await send({ host: '127.0.0.1', port }, { method, path, headers })).status
      const both = async (headers: Fields) => [
        await ask(headers),
        await ask(headers, 'POST', '/login'),
      ]
      return { limiter, both }
    }

    test('blocks and resets on routes with terms of their own too', async () => {
      const { limiter, both } = await serve()
      await limiter.block(ADDRESS, '1h')
      expect(await both(HOME)).toEqual([429, 429])
      expect(await both(NETWORK)).toEqual([200, 200])
      await limiter.reset(ADDRESS)
      expect(await both(HOME)).toEqual([200, 200])
    })

    test.each([
      ['::ffff:203.0.113.7', HOME],
      ['203.0.113.7:4711', HOME],
      ['64:ff9b::203.0.113.7', HOME],
      ['2001:db8:1:200::9', NETWORK],
      ['[2001:db8:1:2aa::]:443', NETWORK],
      ['2001:db8:1:200::/56', NETWORK],
    ])('takes the address %s for the client that it is of', async (address, headers) => {
      const { limiter, both } = await serve()
      await limiter.block(address, '1h')
      expect(await both(headers)).toEqual([429, 429])
      await limiter.reset(address)
      expect(await both(headers)).toEqual([200, 200])
      expect((await limiter.peek(address)).remaining).toBe(4)
    })

    test('the key in a decision is the client, whatever its kind', async () => {
      const decided: Decision[] = []
      const onDecision = (decision: Decision) => void decided.push(decision)
      const policies = [
        { name: 'user', limit: 5, window: '1d', key: 'user' },
        { name: 'address', limit: 5, window: '1d' },
      ]
      const named = { policies: undefined, key: (r: unknown) => nameOf(r), limit: 5, window: '1d' }
      const single = { limit: undefined, window: undefined }
      const { limiter, both } = await serve({ ...single, policies, onDecision }, named)
      const client = { ...HOME, 'x-user': 'ada', 'x-name': ADDRESS }
      expect(await both(client)).toEqual([200, 200])
      const keys = decided.map((each) => each.policies.map(({ key }) => key))
      expect(keys).toEqual([['user:ada', ADDRESS], [`key:${ADDRESS}`]])
      await limiter.block('user:ada', '1h')
      expect(await both(client)).toEqual([429, 200])
      expect(await both({ ...client, 'x-user': 'bob' })).toEqual([200, 200])
      await limiter.block(`key:${ADDRESS}`, '1h')
      expect(await both({ ...client, 'x-user': 'bob' })).toEqual([200, 429])
      await limiter.reset(`key:${ADDRESS}`)
      expect(await both(client)).toEqual([429, 200])
    })

    test('plain text is what a key function gives; an address reaches its fallback too', async () => {
      const { limiter, both } = await serve({ key: (r: unknown) => nameOf(r) })
      for (const [text, headers] of [
        ['tenant-7', { ...HOME, 'x-name': 'tenant-7' }],
        ['key:tenant-7', { ...HOME, 'x-name': 'tenant-7' }],
        ['key:user:42', { ...HOME, 'x-name': 'user:42' }],
        [ADDRESS, HOME],
        [ADDRESS, { ...NETWORK, 'x-name': ADDRESS }],
      ] as const) {
        await limiter.block(text, '1h')
        expect([text, await both(headers)]).toEqual([text, [429, 429]])
        expect([text, await both({ ...HOME, 'x-name': 'other' })]).toEqual([text, [200, 200]])
        await limiter.reset(text)
        expect([text, await both(headers)]).toEqual([text, [200, 200]])
        await limiter.reset('other')
      }
    })

    test('a bucket whose limit is a function: a block holds whatever the limit', async () => {
      const limit = (r: unknown) => Number(headersOf(r)['x-limit'] ?? 5)
      const { limiter, both } = await serve({ limit, algorithm: 'token-bucket' }, { limit })
      await limiter.block(ADDRESS, '1h')
      expect(await both({ ...HOME, 'x-limit': '7' })).toEqual([429, 429])
      await limiter.reset(ADDRESS)
      expect(await both({ ...HOME, 'x-limit': '11' })).toEqual([200, 200])
    })

    test('a range is no client', async () => {
      const { limiter } = await serve()
      for (const range of ['10.0.0.0/8', '2001:db8::/16']) {
        expect(() => limiter.block(range, '1h')).toThrow(
          expect.objectContaining({ code: 'SLUICE_KEY', option: 'key' }),
        )
      }
      expect(() => limiter.reset('')).toThrow(expect.objectContaining({ code: 'SLUICE_KEY' }))
    })
  })
})

function headersOf(request: unknown): Fields {
  return (request as { headers: Fields }).headers
}

function nameOf(request: unknown): string | undefined {
  return headersOf(request)['x-name']
}
