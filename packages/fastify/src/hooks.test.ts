import cors from '@fastify/cors'
import { describe, expect, test } from '@jest/globals'
import fastify from 'fastify'
import { exposedHeaders, rateLimit } from './index.ts'
import { listen, portOf, statuses } from './testing.ts'

const ONCE = { limit: 1, window: '1d' } as const
const ok = async () => 'served'

describe("hook: 'preHandler'", () => {
  test('knows the user that an earlier hook has found', async () => {
    const app = fastify()
    app.addHook('preValidation', async (request) => {
      const { user } = request.headers
      if (user !== undefined) Object.assign(request, { user: { id: user } })
    })
    await app.register(rateLimit, { ...ONCE, key: 'user', hook: 'preHandler' })
    app.get('/', ok)
    const ask = await listen(app)
    const found: number[] = []
    for (const user of ['1', '2', '1', undefined, undefined]) {
      found.push((await ask('GET /', user === undefined ? {} : { headers: { user } })).status)
    }
    expect(found).toEqual([200, 200, 429, 200, 429])
  })

  test('does not count what the schema refuses; onRequest does', async () => {
    const params = { type: 'object', properties: { id: { type: 'integer' } } }
    for (const [hook, expected] of [
      ['preHandler', [400, 400, 200]],
      ['onRequest', [400, 429, 429]],
    ] as const) {
      const app = fastify()
      await app.register(rateLimit, { ...ONCE, hook })
      app.get('/:id', { schema: { params } }, ok)
      expect(await statuses(app, 'GET /a', 'GET /b', 'GET /1')).toEqual(expected)
    }
  })

  test('of a route: its own hooks do not run for what is refused there', async () => {
    const app = fastify()
    await app.register(rateLimit, { ...ONCE, limit: 9 })
    const seen: string[] = []
    const own = async ({ url }: { url: string }) => void seen.push(url)
    const config = { rateLimit: { ...ONCE, hook: 'preHandler' } } as const
    app.get('/one', { config, preHandler: own }, ok)
    app.get('/several', { config, preHandler: [own, own] }, ok)
    const all = ['GET /one', 'GET /one', 'GET /several', 'GET /several']
    expect(await statuses(app, ...all)).toEqual([200, 429, 200, 429])
    expect(seen).toEqual(['/one', '/several', '/several'])
  })

  test('of a route: it is decided there, and where the plugin decides it is not', async () => {
    const app = fastify()
    const seen: string[] = []
    app.addHook('preParsing', async (request) => {
      seen.push(`${request.url} ${request.rateLimit === undefined ? 'later' : 'decided'}`)
    })
    await app.register(rateLimit, ONCE)
    const key = ({ body }: { body: unknown }) => (body as { user: string }).user
    app.post('/body', { config: { rateLimit: { key, limit: 1, hook: 'preValidation' } } }, ok)
    app.post('/plain', ok)
    const url = () => `http://127.0.0.1:${portOf(app)}`
    await listen(app)
    const post = async (path: string, user: string) => {
      const headers = { 'content-type': 'application/json' }
      const body = JSON.stringify({ user })
      return (await fetch(`${url()}${path}`, { method: 'POST', headers, body })).status
    }
    expect([await post('/body', 'a'), await post('/body', 'b'), await post('/body', 'a')]).toEqual([
      200, 200, 429,
    ])
    expect([await post('/plain', 'a'), await post('/plain', 'b')]).toEqual([200, 429])
    expect(seen).toEqual(['/body later', '/body later', '/body later', '/plain decided'])
  })

  test("of a route: its other hooks run after it, HEAD has it too, and 'false' stays exempt", async () => {
    const app = fastify()
    const order: string[] = []
    await app.register(rateLimit, { ...ONCE, hook: 'preHandler' })
    const preValidation = async (request: { rateLimit: unknown }) => {
      order.push(request.rateLimit === undefined ? 'before' : 'after')
    }
    const config = { rateLimit: { limit: 1, hook: 'onRequest' } } as const
    app.get('/', { config, preValidation }, ok)
    app.get('/free', { config: { rateLimit: false }, preValidation }, ok)
    expect(await statuses(app, 'HEAD /', 'GET /', 'GET /free', 'GET /free')).toEqual([
      200, 429, 200, 200,
    ])
    expect(order).toEqual(['after', 'before', 'before'])
  })

  test('of a route that was added before the plugin: a 500 that says what to do', async () => {
    const app = fastify()
    app.get('/', { config: { rateLimit: { hook: 'preHandler' } } }, ok)
    await app.register(rateLimit, ONCE)
    const reply = await (await listen(app))('GET /')
    expect([reply.status, JSON.parse(reply.body).code]).toEqual([500, 'SLUICE_OPTION_CONFLICT'])
  })

  test.each([null, [], { hook: 'onSend' }, 'x'])('config.rateLimit %j throws', async (wrong) => {
    const app = fastify()
    await app.register(rateLimit, ONCE)
    const add = () => app.get('/', { config: { rateLimit: wrong as never } }, ok)
    expect(add).toThrow(expect.objectContaining({ name: 'SluiceError' }) as never)
  })

  test('no other hook is taken', async () => {
    const register = async (hook: string) => {
      await fastify().register(rateLimit, { ...ONCE, hook: hook as 'onRequest' })
    }
    await expect(register('onSend')).rejects.toMatchObject({
      name: 'SluiceError',
      code: 'SLUICE_OPTION_VALUE',
      option: 'hook',
    })
  })
})

describe('app.rateLimit.hook()', () => {
  test('is there in app.after, without await', async () => {
    const app = fastify()
    app.register(rateLimit, { limit: 9, window: '1d' })
    expect(app.rateLimit).toBeUndefined()
    app.after(() => {
      const lookups = app.rateLimit.hook({ limit: 1 })
      app.setNotFoundHandler({ preHandler: lookups }, async (_, reply) => reply.code(404).send())
    })
    app.get('/', async () => 'hello')
    expect(await statuses(app, 'GET /x', 'GET /y', 'GET /', 'GET /')).toEqual([404, 429, 200, 200])
  })

  test('adds a limit to the routes that it is set on, which share it', async () => {
    const app = fastify()
    await app.register(rateLimit, { ...ONCE, limit: 9 })
    const hook = app.rateLimit.hook({ limit: 2 })
    app.get('/a', { preHandler: hook }, ok)
    app.get<{ Params: { id: string } }>('/b/:id', { onRequest: [hook] }, ok)
    app.get('/c', { preValidation: app.rateLimit.hook({ limit: 2 }) }, ok)
    app.get('/', ok)
    expect(await statuses(app, 'GET /a', 'GET /b/1', 'GET /a', 'GET /b/2')).toEqual([
      200, 200, 429, 429,
    ])
    expect(await statuses(app, 'GET /c', 'GET /c', 'GET /c')).toEqual([200, 200, 429])
    // The plugin has counted all of them.
    expect(await statuses(app, 'GET /', 'GET /', 'GET /')).toEqual([200, 200, 429])
  })

  test('without options of its own it charges no quota of the plugin twice', async () => {
    const app = fastify()
    await app.register(rateLimit, { ...ONCE, limit: 2 })
    app.get('/', { preHandler: app.rateLimit.hook() }, ok)
    expect(await statuses(app, 'GET /', 'GET /', 'GET /')).toEqual([200, 200, 429])
  })

  test('limits unknown routes', async () => {
    const app = fastify()
    await app.register(rateLimit, { ...ONCE, limit: 9 })
    const preHandler = app.rateLimit.hook({ limit: 1 })
    app.setNotFoundHandler({ preHandler }, async (_, reply) => reply.code(404).send())
    app.get('/', ok)
    expect(await statuses(app, 'GET /x', 'GET /y', 'GET /')).toEqual([404, 429, 200])
  })

  test('block and reset reach it; wrong options throw where it is made', async () => {
    const app = fastify()
    await app.register(rateLimit, { ...ONCE, skip: (request) => request.url === '/' })
    app.get('/', { preHandler: app.rateLimit.hook({ limit: 1, skip: () => false }) }, ok)
    expect(await statuses(app, 'GET /', 'GET /')).toEqual([200, 429])
    await app.rateLimit.reset('127.0.0.1')
    expect(await statuses(app, 'GET /')).toEqual([200])
    expect(() => app.rateLimit.hook({ limt: 1 } as object)).toThrow(/limt/)
  })
})

test('wrong options reject where the plugin is registered', async () => {
  const register = async (options: object) => {
    await fastify().register(rateLimit, options as never)
  }
  await expect(register({ limit: '5', window: '1d' })).rejects.toMatchObject({ option: 'limit' })
  await expect(register({ ...ONCE, routes: {} })).rejects.toMatchObject({
    code: 'SLUICE_OPTION_UNKNOWN',
  })
  const app = fastify()
  app.register(rateLimit, { ...ONCE, limit: -1 })
  await expect(app.ready()).rejects.toMatchObject({ code: 'SLUICE_OPTION_RANGE' })
})

test('the body of a refused request is not read', async () => {
  const parsed: unknown[] = []
  const app = fastify()
  await app.register(rateLimit, ONCE)
  app.addContentTypeParser('text/plain', { parseAs: 'string' }, (_, body, done) => {
    parsed.push(body)
    done(null, body)
  })
  app.post('/', ok)
  await listen(app)
  for (const [body, status] of [
    ['one', 200],
    ['two', 429],
  ] as const) {
    const response = await fetch(`http://127.0.0.1:${portOf(app)}/`, { method: 'POST', body })
    expect(response.status).toBe(status)
  }
  expect(parsed).toEqual(['one'])
})

describe('OPTIONS and CORS', () => {
  const ORIGIN = { Origin: 'https://app.example' }
  const PREFLIGHT = { headers: { ...ORIGIN, 'Access-Control-Request-Method': 'GET' } }

  async function withCors() {
    const app = fastify()
    await app.register(cors, { origin: true, exposedHeaders: exposedHeaders('draft-11') })
    await app.register(rateLimit, ONCE)
    app.get('/', ok)
    return listen(app)
  }

  test('preflights are answered by @fastify/cors, and not counted', async () => {
    const ask = await withCors()
    for (let i = 0; i < 3; i += 1) {
      const reply = await ask('OPTIONS /', PREFLIGHT)
      expect([reply.status, reply.limitFields()]).toEqual([204, {}])
    }
    expect((await ask('GET /', { headers: ORIGIN })).status).toBe(200)
    expect((await ask('OPTIONS /', PREFLIGHT)).status).toBe(204)
  })

  test('a script may read the refusal', async () => {
    const ask = await withCors()
    await ask('GET /')
    const refused = await ask('GET /', { headers: ORIGIN })
    expect(refused.status).toBe(429)
    expect(refused.all('Access-Control-Allow-Origin')).toEqual([ORIGIN.Origin])
    expect(refused.all('Access-Control-Expose-Headers')).toEqual([
      'RateLimit-Policy, RateLimit, Retry-After',
    ])
  })

  test('without @fastify/cors a preflight is not counted either, plain OPTIONS is', async () => {
    const app = fastify()
    await app.register(rateLimit, ONCE)
    app.options('/', ok)
    const ask = await listen(app)
    expect((await ask('OPTIONS /', PREFLIGHT)).status).toBe(200)
    expect(await statuses(app, 'OPTIONS /', 'OPTIONS /')).toEqual([200, 429])
    expect((await ask('OPTIONS /', PREFLIGHT)).status).toBe(200)
  })
})
