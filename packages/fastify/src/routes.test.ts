import { describe, expect, test } from '@jest/globals'
import fastify, { type FastifyInstance, type HTTPMethods } from 'fastify'
import { memoryStore, type RateLimitOptions, rateLimit } from './index.ts'
import { listen, statuses } from './testing.ts'

const OPTIONS = { limit: 3, window: '1d' } as const
const ok = async () => 'served'

async function limited(options: RateLimitOptions = OPTIONS): Promise<FastifyInstance> {
  const app = fastify()
  await app.register(rateLimit, options)
  return app
}

describe('config.rateLimit of a route', () => {
  test('replaces the options that it names, and the route counts separately', async () => {
    const app = await limited({ ...OPTIONS, headers: 'draft-11', algorithm: 'fixed-window' })
    app.get('/', ok)
    app.post('/login', { config: { rateLimit: { limit: 1, window: '1d' } } }, ok)
    expect(await statuses(app, 'POST /login', 'POST /login')).toEqual([200, 429])
    const reply = await (await listen(app))('POST /login')
    expect(reply.field('RateLimit-Policy')).toBe('"default";q=1;w=86400')
    expect(reply.field('RateLimit-Limit')).toBeUndefined()
    expect(await statuses(app, 'GET /', 'GET /', 'GET /', 'GET /')).toEqual([200, 200, 200, 429])
  })

  test('without its own limit it counts with the others', async () => {
    const app = await limited()
    app.get('/', ok)
    app.get('/search', { config: { rateLimit: { cost: 2 } } }, ok)
    expect(await statuses(app, 'GET /search', 'GET /search', 'GET /')).toEqual([200, 429, 200])
  })

  test('false exempts the route', async () => {
    const app = await limited({ ...OPTIONS, limit: 0 })
    app.get('/health', { config: { rateLimit: false } }, async (request) => [request.rateLimit])
    const reply = await (await listen(app))('GET /health')
    expect([reply.status, reply.body]).toEqual([200, '[null]'])
    expect(reply.limitFields()).toEqual({})
  })

  test('a ban of the limiter holds on a route with its own limit', async () => {
    const app = await limited({ ...OPTIONS, ban: { after: 1, within: '1h', for: ['1h'] } })
    app.get('/', ok)
    app.post('/login', { config: { rateLimit: { limit: 5, window: '1d' } } }, ok)
    const all = ['POST /login', ...Array<string>(4).fill('GET /'), 'POST /login']
    expect(await statuses(app, ...all)).toEqual([200, 200, 200, 200, 429, 429])
  })

  test('policies: the route holds several limits', async () => {
    const app = await limited()
    const policies = [
      { name: 'burst', limit: 2, window: '1h' },
      { name: 'daily', limit: 9, window: '1d' },
    ] as const
    app.get('/', { config: { rateLimit: { policies } } }, ok)
    const reply = await (await listen(app))('GET /')
    expect(reply.field('RateLimit-Policy')).toBe('"burst";q=2;w=3600, "daily";q=9;w=86400')
    expect(await statuses(app, 'GET /', 'GET /')).toEqual([200, 429])
  })

  test('one that is wrong throws where the route is added', async () => {
    const app = await limited()
    const add = (rateLimit: object) => () => app.post('/login', { config: { rateLimit } }, ok)
    for (const [wrong, code] of [
      [{ limit: '5' }, 'SLUICE_OPTION_TYPE'],
      [{ limt: 5 }, 'SLUICE_OPTION_UNKNOWN'],
      [{ store: memoryStore() }, 'SLUICE_OPTION_UNKNOWN'],
      [true, 'SLUICE_OPTION_TYPE'],
    ] as const) {
      expect(add(wrong as object)).toThrow(
        expect.objectContaining({ name: 'SluiceError', code }) as never,
      )
    }
    expect(add({ limit: '5' })).toThrow(
      expect.objectContaining({ option: 'POST /login: config.rateLimit.limit' }) as never,
    )
    expect(add({ max: 5 })).toThrow(/config\.rateLimit\.max: Write limit: 5\./)
  })

  test('a config that several routes share is left as it is', async () => {
    const config = Object.freeze({ rateLimit: { limit: 1 } })
    const app = await limited()
    app.get('/a', { config }, ok)
    app.get('/b', { config }, ok)
    expect(await statuses(app, 'GET /a', 'GET /b', 'GET /a', 'GET /b')).toEqual([
      200, 200, 429, 429,
    ])
    expect(Reflect.ownKeys(config)).toEqual(['rateLimit'])
  })

  test('applies to routes that were added before the plugin', async () => {
    const app = fastify()
    app.get('/', { config: { rateLimit: { limit: 1 } } }, ok)
    app.get('/free', { config: { rateLimit: false } }, ok)
    app.get('/wrong', { config: { rateLimit: { limit: -1 } } }, ok)
    await app.register(rateLimit, { ...OPTIONS, limit: 0 })
    expect(await statuses(app, 'GET /', 'HEAD /', 'GET /free')).toEqual([200, 429, 200])
    const wrong = await (await listen(app))('GET /wrong')
    expect([wrong.status, JSON.parse(wrong.body).code]).toEqual([500, 'SLUICE_OPTION_RANGE'])
  })
})

describe('what a route is counted by', () => {
  const config = { rateLimit: { limit: 1 } }

  test('routes with the same key share a quota', async () => {
    const app = await limited({ ...OPTIONS, limit: 2 })
    const shared = { config: { rateLimit: { key: () => 'search' } } }
    app.get('/a', shared, ok)
    app.get('/b', shared, ok)
    app.get('/c', ok)
    expect(await statuses(app, 'GET /a', 'GET /b', 'GET /a', 'GET /b', 'GET /c')).toEqual([
      200, 200, 429, 429, 200,
    ])
  })

  test.each<[string, { method: HTTPMethods | HTTPMethods[] }]>([
    ['GET', { method: 'GET' }],
    ['GET and POST', { method: ['GET', 'POST'] }],
  ])('HEAD counts with the GET that it comes with: %s', async (_, route) => {
    const app = await limited()
    app.route({ ...route, url: '/', config, handler: ok })
    expect(await statuses(app, 'HEAD /', 'GET /', 'HEAD /')).toEqual([200, 429, 429])
    const refused = await (await listen(app))('HEAD /')
    expect(refused.body).toBe('')
    expect(refused.field('RateLimit')).toMatch(/^"default";r=0;t=\d+$/)
  })

  test('methods with their own routes count separately', async () => {
    const app = await limited()
    app.get('/', { config }, ok)
    app.route({ method: ['PUT', 'POST'], url: '/', config, handler: ok })
    expect(await statuses(app, 'GET /', 'POST /', 'PUT /')).toEqual([200, 200, 429])
  })

  test('the order of its methods makes no difference to another process', async () => {
    const store = memoryStore()
    const seen: number[] = []
    for (const method of [
      ['PUT', 'POST'],
      ['POST', 'PUT'],
    ]) {
      const app = await limited({ ...OPTIONS, store })
      app.route({ method, url: '/', config, handler: ok })
      seen.push(...(await statuses(app, 'PUT /')))
    }
    expect(seen).toEqual([200, 429])
  })

  test('a trailing slash and the values of parameters make no difference', async () => {
    const app = await limited()
    await app.register(async (v1) => v1.get('/', { config }, ok), { prefix: '/v1' })
    app.get('/users/:id', { config }, ok)
    expect(await statuses(app, 'GET /v1', 'GET /v1/')).toEqual([200, 429])
    expect(await statuses(app, 'GET /users/1', 'GET /users/2')).toEqual([200, 429])
  })
})

describe('unknown routes', () => {
  test('are limited, by the default handler', async () => {
    const app = await limited({ ...OPTIONS, limit: 1 })
    expect(await statuses(app, 'GET /nowhere', 'POST /else', 'HEAD /')).toEqual([404, 429, 429])
  })

  test.each(['onRequest', 'preHandler'] as const)('with a handler, hook %s', async (hook) => {
    for (const when of ['before', 'after'] as const) {
      const app = fastify()
      const set = () => app.setNotFoundHandler((_, reply) => reply.code(404).send('none'))
      if (when === 'before') set()
      await app.register(rateLimit, { ...OPTIONS, limit: 1, hook })
      if (when === 'after') set()
      await app.register(
        async (api) => api.setNotFoundHandler(async (_, reply) => reply.code(410).send()),
        { prefix: '/api' },
      )
      expect(await statuses(app, 'GET /nowhere', 'GET /nowhere', 'GET /api/x')).toEqual([
        404, 429, 429,
      ])
    }
  })

  test('their handler may have options of its own', async () => {
    const app = await limited({ ...OPTIONS, limit: 1 })
    app.setNotFoundHandler({ config: { rateLimit: { limit: 2 } } } as object, async (_, reply) =>
      reply.code(404).send(),
    )
    app.get('/', ok)
    expect(await statuses(app, 'GET /a', 'GET /b', 'GET /c', 'GET /')).toEqual([404, 404, 429, 200])
  })
})
