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
      const { limiter, both } = await serve(
        { ...single, policies, onDecision, prefix: 'kinds' },
        named,
      )
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

    describe('a network', () => {
      const OTHER = { 'x-forwarded-for': '203.0.114.7' }
      const user = { key: 'user' }

      test.each([
        ['203.0.113.0/24', HOME, { 'x-forwarded-for': '203.0.112.7' }],
        ['::ffff:203.0.113.0/120', HOME, OTHER],
        ['2001:db8:1::/48', NETWORK, { 'x-forwarded-for': '2001:db8:2::1' }],
        ['2001:db8:1:2ff::/64', NETWORK, { 'x-forwarded-for': '2001:db8:1:2fe::1' }],
      ])(
        '%s is refused on every route, by the address behind the proxy',
        async (network, within, outside) => {
          const { limiter, both } = await serve()
          await limiter.block(network, '1h')
          expect(await both(within)).toEqual([429, 429])
          expect(await both(outside)).toEqual([200, 200])
          await limiter.reset(network)
          expect(await both(within)).toEqual([200, 200])
        },
      )

      test('is refused whoever the user is; a user with the name of an address is nobody there', async () => {
        const { limiter, both } = await serve(user, { ...user, limit: 9, window: '1d' })
        await limiter.block('203.0.113.0/24', '1h')
        expect(await both({ ...HOME, 'x-user': 'ada' })).toEqual([429, 429])
        expect(await both({ ...OTHER, 'x-user': '203.0.113.7' })).toEqual([200, 200])
      })

      test('skip, allow and deny decide before it, a preflight passes, and a dry run refuses nothing', async () => {
        for (const [options, headers, statuses] of [
          [{ allow: [ADDRESS] }, HOME, [200, 200]],
          [{ allow: ['user:ada'], key: 'user' }, { ...HOME, 'x-user': 'ada' }, [200, 200]],
          [{ deny: ['203.0.0.0/16'] }, HOME, [403, 403]],
          [
            { skip: (r: unknown) => nameOf(r) === 'skipped' },
            { ...HOME, 'x-name': 'skipped' },
            [200, 200],
          ],
          [{ dryRun: true }, HOME, [200, 200]],
          [{}, HOME, [429, 429]],
        ] as const) {
          const { limiter, both } = await serve(options)
          await limiter.block('203.0.113.0/24', '1h')
          expect([options, await both(headers)]).toEqual([options, statuses])
          await limiter.reset('203.0.113.0/24')
        }
      })

      test('is an error where a client may have chosen the text, and for what is about one client', async () => {
        const byName = await serve({ key: (r: unknown) => nameOf(r) })
        const wrong = expect.objectContaining({ code: 'SLUICE_KEY', option: 'key' })
        await expect((async () => byName.limiter.block('203.0.0.0/8', '1h'))()).rejects.toThrow(
          wrong,
        )
        await expect((async () => byName.limiter.reset('203.0.0.0/8'))()).rejects.toThrow(wrong)
        expect(await byName.both(HOME)).toEqual([200, 200])
        await byName.limiter.block('203.0.0.0/8', '1h', { network: true })
        expect(await byName.both(HOME)).toEqual([429, 429])
        await byName.limiter.reset('203.0.0.0/8', { network: true })
        const { limiter } = await serve()
        await expect((async () => limiter.peek('203.0.113.0/24'))()).rejects.toThrow(wrong)
        await expect((async () => limiter.reset(''))()).rejects.toThrow(wrong)
        for (const large of ['128.0.0.0/1', '2000::/3'])
          await expect((async () => limiter.block(large, '1h'))()).rejects.toThrow(
            expect.objectContaining({ code: 'SLUICE_CIDR' }),
          )
      })
    })
  })
})

function headersOf(request: unknown): Fields {
  return (request as { headers: Fields }).headers
}

function nameOf(request: unknown): string | undefined {
  return headersOf(request)['x-name']
}
