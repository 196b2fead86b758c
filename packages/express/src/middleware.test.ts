import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, jest, test } from '@jest/globals'
import { type SendOptions, send } from '@sluice/test-suites/client'
import express, { type Request, type Response } from 'express'
import { rateLimit } from './index.ts'

const ONCE = { limit: 1, window: '1d' } as const

/** Only what is specific to Express: the suite that every adapter passes has the rest. */
describe('the middleware in Express', () => {
  const servers: Server[] = []

  afterEach(() => {
    for (const server of servers.splice(0)) {
      server.closeAllConnections()
      server.close()
    }
  })

  async function listen(app: express.Express) {
    const server = createServer(app)
    servers.push(server)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    return (path: string, options?: SendOptions) =>
      send({ host: '127.0.0.1', port }, { path, ...options })
  }

  test('the routes of a mounted limiter are relative to its router', async () => {
    const router = express.Router()
    router.use(rateLimit({ limit: 9, window: '1d', routes: { '/login': ONCE } }))
    const app = express().use('/api', router)
    const send = await listen(app)
    const statuses = [await send('/api/login'), await send('/api/login')].map((each) => each.status)
    expect(statuses).toEqual([404, 429])
  })

  test('respond gets the request and response objects of Express', async () => {
    const seen: [Request, Response][] = []
    const app = express()
    app.use((request, response, next) => {
      seen.push([request, response])
      next()
    })
    app.use(
      rateLimit({
        ...ONCE,
        limit: 0,
        respond(decision, request, response) {
          seen.push([request, response])
          response.json({ remaining: decision.remaining, ip: request.ip })
        },
      }),
    )
    const get = await listen(app)
    const reply = await get('/')
    expect([reply.status, JSON.parse(reply.body)]).toEqual([429, { remaining: 0, ip: '127.0.0.1' }])
    expect(seen[1]?.[0]).toBe(seen[0]?.[0])
    expect(seen[1]?.[1]).toBe(seen[0]?.[1])
  })

  test('.limiter reads, resets and blocks what the middleware counts', async () => {
    const limit = rateLimit({ limit: 5, window: '1d' })
    const app = express()
    app.use(limit, (_, response) => void response.send('served'))
    const get = await listen(app)
    await get('/')
    expect(await limit.limiter.peek('127.0.0.1')).toMatchObject({ remaining: 4 })
    await limit.limiter.block('127.0.0.1', '1m')
    expect((await get('/')).status).toBe(429)
    await limit.limiter.reset('127.0.0.1')
    expect((await get('/')).remaining).toBe(4)
  })

  test('made inside a handler it never limits: one warning says so', async () => {
    const emitted = jest.spyOn(process, 'emitWarning').mockImplementation(() => {})
    const app = express()
    app.use((request, response, next) => rateLimit(ONCE)(request, response, next))
    app.use((_, response) => void response.send('served'))
    const get = await listen(app)
    for (let i = 0; i < 12; i += 1) expect((await get('/')).status).toBe(200)
    const codes = emitted.mock.calls.map(([, options]) => (options as { code?: string }).code)
    emitted.mockRestore()
    expect(codes).toEqual(['SLUICE_MADE_PER_REQUEST'])
  })

  test('on one route, and in a router, it limits there and nowhere else', async () => {
    const app = express()
    const router = express.Router()
    router.use(rateLimit(ONCE))
    router.get('/inner', (_, response) => void response.send('inner'))
    app.use('/api', router)
    app.get('/search', rateLimit(ONCE), (_, response) => void response.send('found'))
    app.get('/free', (_, response) => void response.send('free'))
    const get = await listen(app)
    for (const path of ['/api/inner', '/search']) {
      expect([path, (await get(path)).status]).toEqual([path, 200])
      expect([path, (await get(path)).status]).toEqual([path, 429])
    }
    const free = await get('/free')
    expect([free.status, free.limitFields()]).toEqual([200, {}])
  })

  test('routes: an entry replaces the options of its route, false exempts it', async () => {
    const app = express()
    app.use(
      rateLimit({
        limit: 3,
        window: '1d',
        routes: {
          'POST /login': { limit: 1, window: '1d' },
          '/users/:id': { cost: 2 },
          '/health': false,
        },
      }),
    )
    app.use((_, response) => void response.send('served'))
    const get = await listen(app)
    const login = await get('/login', { method: 'POST' })
    expect(login.field('RateLimit-Policy')).toBe('"default";q=1;w=86400')
    expect((await get('/login/', { method: 'POST' })).status).toBe(429)
    expect((await get('/login')).remaining).toBe(2)
    expect((await get('/users/7')).remaining).toBe(0)
    expect((await get('/health')).limitFields()).toEqual({})
    expect((await get('/other')).status).toBe(429)
  })
})
