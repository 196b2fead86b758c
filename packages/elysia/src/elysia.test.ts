import { treaty } from '@elysiajs/eden'
import { afterEach, describe, expect, jest, test } from '@jest/globals'
import { shedFetch } from '@sluice/hono/overload'
import { until } from '@sluice/test-harness/redis'
import { Elysia } from 'elysia'
import { type RateLimitOptions, type RateLimitPlugin, rateLimit } from './index.ts'

const ONCE = { limit: 1, window: '1d', algorithm: 'fixed-window', key: () => 'client' } as const

const limiters: RateLimitPlugin[] = []
afterEach(() => {
  for (const each of limiters.splice(0)) each.limiter.close()
})

function made<Derived extends object = object>(
  options: RateLimitOptions<Derived>,
): RateLimitPlugin {
  const limit = rateLimit(options)
  limiters.push(limit)
  return limit
}

const request = (path: string, init?: RequestInit) => new Request(`http://localhost${path}`, init)

async function statuses(app: { handle(request: Request): Promise<Response> }, ...paths: string[]) {
  const all: number[] = []
  for (const path of paths) all.push((await app.handle(request(path))).status)
  return all
}

test('handlers get the decision; the client of Elysia gets the refusal', async () => {
  const app = new Elysia()
    .use(made({ ...ONCE, routes: { '/free': false } }))
    .get('/', ({ rateLimit }) => ({ left: rateLimit?.remaining }))
    .get('/free', ({ rateLimit }) => ({ left: rateLimit?.remaining }))
  const api = treaty(app)
  expect((await api.get()).data).toEqual({ left: 0 })
  expect((await api.free.get()).data).toEqual({})
  const { data, status, response, error } = await api.get()
  expect([data, status, response.headers.get('Retry-After') !== null]).toEqual([null, 429, true])
  expect(error?.value).toMatchObject({ status: 429 })
})

test('unknown routes, errors and HEAD are limited, and have the fields', async () => {
  const app = new Elysia()
    .use(made({ ...ONCE, limit: 4 }))
    .get('/throws', () => {
      throw new Error('of the application')
    })
    .get('/static', 'static')
  const responses: Response[] = []
  for (const [path, method] of [
    ['/throws', 'GET'],
    ['/unknown', 'GET'],
    ['/static', 'HEAD'],
    ['/static', 'GET'],
    ['/unknown', 'GET'],
  ] as const)
    responses.push(await app.handle(request(path, { method })))
  expect(responses.map(({ status }) => status)).toEqual([500, 404, 200, 200, 429])
  expect(responses.map(({ headers }) => headers.get('RateLimit-Remaining'))).toEqual([
    '3',
    '2',
    '1',
    '0',
    '0',
  ])
})

test('the same plugin in several instances counts a request once', async () => {
  const limit = made({ ...ONCE, limit: 3 })
  const one = new Elysia({ prefix: '/one' }).use(limit).get('/', 'one')
  const two = new Elysia({ prefix: '/two' }).use(limit).get('/', 'two')
  const app = new Elysia().use(limit).use(one).use(two)
  expect(await statuses(app, '/one', '/two', '/one', '/two')).toEqual([200, 200, 200, 429])
})

test('two plugins on one application both count', async () => {
  const app = new Elysia()
    .use(made({ ...ONCE, limit: 3 }))
    .use(made({ ...ONCE, limit: 2 }))
    .get('/', 'served')
  expect(await statuses(app, '/', '/', '/')).toEqual([200, 200, 429])
})

test("as: 'scoped' limits the routes of its instance, and knows the user", async () => {
  const app = new Elysia()
    .group('/api', (api) =>
      api
        .get('/before', 'not limited')
        .resolve(({ query }) => ({ user: query.user }))
        .use(made({ ...ONCE, key: 'user', as: 'scoped' }))
        .get('/', ({ rateLimit }) => `${rateLimit?.remaining}`),
    )
    .get('/outside', 'not limited')
  const limited = await statuses(app, '/api?user=ann', '/api?user=bob', '/api?user=ann')
  expect(limited).toEqual([200, 200, 429])
  const free = ['/api/before', '/outside', '/unknown']
  expect(await statuses(app, ...free, ...free)).toEqual([200, 200, 404, 200, 200, 404])
})

test("as: 'global' limits the routes of all instances", async () => {
  const auth = new Elysia().use(made({ ...ONCE, as: 'global' }))
  const app = new Elysia().use(auth).get('/', 'limited')
  expect(await statuses(app, '/', '/')).toEqual([200, 429])
})

test('functions read what derive adds, typed', async () => {
  const limit = made<{ tenant: string }>({ ...ONCE, key: (c) => c.tenant, as: 'scoped' })
  const app = new Elysia()
    .derive(({ query }) => ({ tenant: query.tenant ?? 'none' }))
    .use(limit)
    .get('/', 'served')
  expect(await statuses(app, '/?tenant=a', '/?tenant=b', '/?tenant=a')).toEqual([200, 200, 429])
})

test.each([undefined, 'scoped'] as const)(
  'a route may read the body as a stream: as %s',
  async (as) => {
    const app = new Elysia()
      .use(made({ ...ONCE, as }))
      .post('/', ({ request }) => new Response(request.body))
    const body = '{not JSON'
    const headers = { 'Content-Type': 'application/json' }
    const response = await app.handle(request('/', { method: 'POST', body, headers }))
    expect([response.status, await response.text()]).toEqual([200, body])
  },
)

test("respond: 'throw' reaches onError, whose response has the fields", async () => {
  const app = new Elysia()
    .onError(({ error, code, status }) => status(429, { code, message: (error as Error).message }))
    .use(made({ ...ONCE, limit: 0, respond: 'throw' }))
    .get('/', 'served')
  const response = await app.handle(request('/'))
  expect([response.status, await response.json()]).toMatchObject([429, { code: 'SLUICE_REFUSED' }])
  expect(response.headers.get('Retry-After')).not.toBeNull()
})

test('a stream holds its slot until it has been read, and a generator is settled', async () => {
  const limit = made({
    key: () => 'client',
    policies: [
      { name: 'slots', concurrent: 1, hold: '1h' },
      { name: 'units', limit: 100, window: '1d', cost: 10, settle: () => 3 },
    ],
  } as never)
  const left = async () =>
    (await limit.limiter.peek('key:client')).policies.map(({ remaining }) => remaining)
  const app = new Elysia().use(limit).get('/', async function* () {
    for (let i = 0; i < 3; i += 1) yield new TextEncoder().encode(`${i}`)
  })
  const response = await app.handle(request('/'))
  expect([await left(), (await app.handle(request('/'))).status]).toEqual([[0, 90], 429])
  expect(await response.text()).toBe('012')
  await until(async () => `${await left()}` === '1,97', { what: 'the stream is settled' })
})

test('an application within another: the limiters of both', async () => {
  const inner = new Elysia().use(made({ ...ONCE, limit: 2 })).get('/', 'inner')
  const app = new Elysia()
    .use(made({ ...ONCE, limit: 5, headers: 'legacy' }))
    .all('/*', ({ request }) => inner.handle(request))
  const { headers } = await app.handle(request('/'))
  expect(headers.get('X-RateLimit-Remaining')).toBe('4')
  expect(headers.get('RateLimit')).toMatch(/r=1;/)
  expect(await statuses(app, '/', '/')).toEqual([200, 429])
})

test('usage and OpenAPI', async () => {
  const limit = made({ ...ONCE, limit: 5, routes: { '/usage': false } })
  const app = new Elysia().use(limit).get('/', 'served').get('/usage', limit.usage())
  await app.handle(request('/'))
  const usage = await (await app.handle(request('/usage'))).json()
  expect(usage).toMatchObject({ policies: [{ limit: 5, remaining: 4 }] })
  const operation = { responses: { 200: { description: 'OK' } } }
  const document = {
    openapi: '3.1.0',
    info: { title: 'API', version: '1' },
    paths: { '/': { get: operation }, '/usage': { get: operation } },
  }
  const { paths } = await limit.openapi(document)
  expect(Object.keys(paths['/'].get.responses)).toEqual(['200', '429'])
  expect(Object.keys(paths['/usage'].get.responses)).toEqual(['200'])
})

describe('where the responses of the application are not passed to the plugin', () => {
  const APPS = {
    'aot: false': (limit: RateLimitPlugin) =>
      new Elysia({ aot: false }).use(limit).get('/api', 'served'),
    'an instance in a group': (limit: RateLimitPlugin) =>
      new Elysia().group('/api', (api) => api.use(new Elysia().use(limit).get('/', 'served'))),
  }
  const CASES = Object.entries(APPS)

  test.each(CASES)('%s: a limit on routes has its fields', async (_, appWith) => {
    const app = appWith(made({ ...ONCE, as: 'scoped' }))
    const { status, headers } = await app.handle(request('/api'))
    expect([status, headers.get('RateLimit-Remaining')]).toEqual([200, '0'])
    expect(await statuses(app, '/api')).toEqual([429])
  })

  test.each(CASES)('%s: others, and what is settled, fail, and say why', async (_, appWith) => {
    const slots = { key: () => 'client', concurrent: 1, as: 'scoped' } as const
    for (const options of [ONCE, slots]) {
      const response = await appWith(made(options)).handle(request('/api'))
      expect([response.status, await response.text()]).toEqual([
        500,
        expect.stringContaining('SLUICE_REQUEST'),
      ])
    }
  })

  test('any limiter on the application helps', async () => {
    const slots = made({ key: () => 'client', concurrent: 1, as: 'scoped' })
    const app = new Elysia()
      .use(made({ ...ONCE, limit: 9 }))
      .use(APPS['an instance in a group'](slots))
    expect(await statuses(app, '/api', '/api')).toEqual([200, 200])
  })
})

test('in a group or a guard, a slot is free when its response has ended', async () => {
  const limit = made({ key: () => 'client', concurrent: 1, as: 'scoped' })
  const apps = [
    new Elysia().group('/api', (api) => api.use(limit).get('/', 'served')),
    new Elysia().guard({}, (api) => api.use(limit).get('/api', 'served')),
  ]
  for (const app of apps)
    expect(await statuses(app, '/api', '/api', '/api')).toEqual([200, 200, 200])
})

test.each([undefined, 'scoped'] as const)('what a function throws is a 500: as %s', async (as) => {
  const key = () => {
    throw new Error('of the key')
  }
  const app = new Elysia().use(made({ ...ONCE, key, as })).get('/', 'served')
  expect(await statuses(app, '/')).toEqual([500])
})

test.each([
  ['as', 'local', 'SLUICE_OPTION_VALUE'],
  ['address', '192.0.2.1', 'SLUICE_OPTION_TYPE'],
  ['limits', 1, 'SLUICE_OPTION_UNKNOWN'],
])('%s: %p throws', (option, value, code) => {
  expect(() => rateLimit({ ...ONCE, [option]: value } as never)).toThrow(
    expect.objectContaining({ code, option }),
  )
})

test('shedFetch sheds load before a limit counts it', async () => {
  // Time stands still: the places stay as many as at the start.
  const now = jest.spyOn(performance, 'now').mockReturnValue(1000)
  type Handle = (...args: unknown[]) => unknown
  const queue = { max: 2, maxWait: '1m' } as const
  const shed = shedFetch({ queue }, (given: Request, handle: Handle) => handle(given) as Response)
  const limit = made({ ...ONCE, limit: 1000 })
  let finish = () => {}
  const finished = new Promise<void>((resolve) => {
    finish = resolve
  })
  const app = new Elysia()
    .wrap((handle) => (given: Request) => shed(given, handle))
    .use(limit)
    .get('/', async () => {
      await finished
      return 'served'
    })
  const all = Promise.all(Array.from({ length: 100 }, () => app.handle(request('/'))))
  finish()
  const served = (await all).filter(({ status }) => status === 200)
  expect(served.length).toBeLessThan(100)
  expect((await limit.limiter.peek('client')).remaining).toBe(1000 - served.length)
  now.mockRestore()
})
