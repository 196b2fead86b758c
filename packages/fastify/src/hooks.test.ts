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
