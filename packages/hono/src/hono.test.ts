import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { afterEach, describe, expect, jest, test } from '@jest/globals'
import type { DecisionEvent } from '@sluice/core'
import { type Context, Hono } from 'hono'
import { cors } from 'hono/cors'
import { HTTPException } from 'hono/http-exception'
import { stream } from 'hono/streaming'

declare module 'hono' {
  interface ContextVariableMap {
    tokens: number
  }
}

import {
  type Decision,
  memoryStore,
  RateLimitError,
  type RateLimitHandler,
  type RateLimitOptions,
  rateLimit,
} from './index.ts'

const LIMITED = { limit: 1, window: '1d', algorithm: 'fixed-window', key: () => 'client' } as const

const limiters: RateLimitHandler[] = []
afterEach(() => {
  for (const each of limiters.splice(0)) each.limiter.close()
})

function made(options: RateLimitOptions): RateLimitHandler {
  const limit = rateLimit(options)
  limiters.push(limit)
  return limit
}

const statuses = async (app: Hono, ...paths: string[]) => {
  const all: number[] = []
  for (const path of paths) all.push((await app.request(path)).status)
  return all
}

describe('nothing is guessed of who a client is', () => {
  /** Options without the limit that the other tests have. */
  const SINGLE = { limit: undefined, window: undefined }

  test.each<[string, object]>([
    ['nothing', {}],
    ["key: 'ip'", { key: 'ip' }],
    ["key: 'user', which falls back to the address", { key: 'user' }],
    ['a policy by address', { ...SINGLE, policies: [{ limit: 1, window: '1m' }] }],
    ['a route by address', { key: () => 'client', routes: { '/login': { key: 'ip' } } }],
    ['a route by user', { key: () => 'client', routes: { '/login': { key: 'user', limit: 1 } } }],
    [
      'a route behind proxies by name',
      { trustProxy: 1, routes: { '/a': { trustProxy: 'loopback' } } },
    ],
    ['a key function, with deny by address', { key: () => 'client', deny: ['192.0.2.0/24'] }],
    [
      'a key function, with allow by address on a route',
      { key: () => 'client', routes: { '/a': { allow: ['::1'] } } },
    ],
    ['proxies by name', { trustProxy: 'loopback' }],
    ['a header of proxies by name', { trustProxy: { proxies: 'loopback', header: 'Forwarded' } }],
  ])('%s says nothing: it throws', (_, options) => {
    expect(() => rateLimit({ limit: 1, window: '1m', ...options })).toThrow(
      expect.objectContaining({ code: 'SLUICE_OPTION_TYPE', option: 'address' }),
    )
  })

  test.each<[string, object]>([
    ['address', { address: () => '192.0.2.1' }],
    ['a key function', { key: () => 'client' }],
    ['a key function, with deny by key', { key: () => 'client', deny: ['other'] }],
    [
      'a key function of each policy',
      { ...SINGLE, policies: [{ key: () => 'a', limit: 1, window: '1d' }] },
    ],
    ['hops of a route', { key: () => 'a', routes: { '/': { key: 'ip', trustProxy: 1 } } }],
    ['hops', { trustProxy: 1 }],
    ['a function for proxies', { trustProxy: () => true }],
    ['hops of Forwarded', { trustProxy: { proxies: 1, header: 'Forwarded' } }],
  ])('%s says it', async (_, options) => {
    const app = new Hono().use(made({ limit: 1, window: '1d', ...options } as RateLimitOptions))
    app.get('/', (c) => c.text('served'))
    const forwarded = { 'X-Forwarded-For': '192.0.2.1', Forwarded: 'for=192.0.2.1' }
    const send = async () => (await app.request('/', { headers: forwarded })).status
    expect([await send(), await send()]).toEqual([200, 429])
  })

  test('an address that is not a function is wrong', () => {
    const options = { limit: 1, window: '1m', address: '192.0.2.1' }
    expect(() => rateLimit(options as never)).toThrow(
      expect.objectContaining({ code: 'SLUICE_OPTION_TYPE', option: 'address' }),
    )
  })
})

test('the application gets the decision; an exempt request has none', async () => {
  const seen: (Decision | undefined)[] = []
  const app = new Hono().use(made({ ...LIMITED, routes: { '/free': false } }))
  app.all('*', (c) => {
    seen.push(c.var.rateLimit)
    return c.text('served')
  })
  expect(await statuses(app, '/', '/free', '/')).toEqual([200, 200, 429])
  expect(seen.map((each) => each?.remaining)).toEqual([0, undefined])
})

test.each([
  ['of the context', (c: { text(text: string): Response }) => c.text('served')],
  ['of its own', () => new Response('served')],
  ['that cannot be changed', () => Response.redirect('http://example.com/', 303)],
])('a response %s has the fields, and keeps its own', async (_, respond) => {
  const app = new Hono().use(cors()).use(made({ ...LIMITED, limit: 3 }))
  app.get('/', (c) => {
    c.header('X-Mine', 'kept')
    return respond(c)
  })
  const response = await app.request('/', { headers: { Origin: 'https://app.example' } })
  expect(response.headers.get('RateLimit')).toMatch(/^"default";r=2;t=\d+$/)
  expect(response.headers.get('Access-Control-Allow-Origin')).toBe('*')
})

test('events name the route of the handler, not that of middleware before it', async () => {
  const routes: unknown[] = []
  const hear = (event: unknown) => void routes.push((event as DecisionEvent).route)
  subscribe('sluice:decision', hear)
  const app = new Hono().use(made(LIMITED))
  app.get('/users/*', (_, next) => next())
  app.get('/users/:id', (c) => c.text('served'))
  await app.request('/users/42')
  unsubscribe('sluice:decision', hear)
  expect(routes).toEqual(['/users/:id'])
})

test('two limiters: the fields list both, and a route adds its own', async () => {
  const app = new Hono().use(made({ ...LIMITED, limit: 9 }))
  app.get('/login', made(LIMITED), (c) => c.text('served'))
  expect((await app.request('/login')).headers.get('RateLimit-Policy')).toBe(
    '"default";q=9;w=86400, "default-2";q=1;w=86400',
  )
  expect(await statuses(app, '/login', '/')).toEqual([429, 404])
})

test('one limiter on a path and a route counts once, though middleware replaces the request', async () => {
  const limit = made(LIMITED)
  const app = new Hono().use(limit)
  app.use(async (c, next) => {
    c.req.raw = new Request(c.req.raw)
    await next()
  })
  app.get('/', limit, (c) => c.text('served'))
  expect(await statuses(app, '/', '/')).toEqual([200, 429])
})

test('a request that the application makes itself counts, the same one as often as it is made', async () => {
  const app = new Hono().use(made({ ...LIMITED, limit: 4 }))
  app.get('/part', (c) => c.text('served'))
  app.get('/batch', async (c) => {
    const part = new Request('http://localhost/part')
    const parts = [await app.request('/part'), await app.request(part), await app.request(part)]
    return c.json(parts.map(({ status }) => status))
  })
  expect(await (await app.request('/batch')).json()).toEqual([200, 200, 200])
  expect(await statuses(app, '/part')).toEqual([429])
})

describe('errors', () => {
  test('a refusal that is thrown reaches onError, with the fields', async () => {
    const app = new Hono().use(made({ ...LIMITED, respond: 'throw' }))
    app.onError((error, c) =>
      error instanceof RateLimitError
        ? c.json({ waitMs: error.decision.retryAfterMs }, 429)
        : c.text('wrong', 500),
    )
    await app.request('/')
    const response = await app.request('/')
    expect(response.status).toBe(429)
    expect(Number(response.headers.get('Retry-After'))).toBeGreaterThan(0)
    expect(await response.json()).toEqual({ waitMs: expect.any(Number) })
  })

  test('a refusal that is thrown without onError is answered like any HTTPException, and logged nowhere', async () => {
    const logged = jest.spyOn(console, 'error')
    const app = new Hono().use(made({ ...LIMITED, respond: 'throw' }))
    await app.request('/')
    for (let i = 0; i < 2; i += 1) {
      const response = await app.request('/')
      expect([response.status, response.headers.get('Content-Type')]).toEqual([
        429,
        'application/problem+json',
      ])
      expect(Number(response.headers.get('Retry-After'))).toBeGreaterThan(0)
      expect(response.headers.get('RateLimit')).toMatch(/^"default";r=0;t=\d+$/)
      expect(await response.json()).toMatchObject({ status: 429 })
    }
    expect(logged).not.toHaveBeenCalled()
    logged.mockRestore()
  })

  test('a refusal that is thrown is an HTTPException too, whose response can be had twice', async () => {
    const app = new Hono().use(made({ ...LIMITED, respond: 'throw' }))
    const thrown: Error[] = []
    app.onError((error, c) => {
      thrown.push(error)
      return c.text('refused', 429)
    })
    await app.request('/')
    await app.request('/')
    const [error] = thrown as [HTTPException & RateLimitError]
    expect([error instanceof HTTPException, error.code, error.statusCode, error.name]).toEqual([
      true,
      'SLUICE_REFUSED',
      429,
      'RateLimitError',
    ])
    const texts = [await error.getResponse().text(), await error.getResponse().text()]
    expect([texts[0], JSON.parse(texts[0] as string).status]).toEqual([texts[1], 429])
  })

  test('what the application throws is answered by its own error handler, with the fields', async () => {
    const app = new Hono().use(made(LIMITED))
    app.get('/', () => {
      throw new HTTPException(418, { message: 'teapot' })
    })
    const response = await app.request('/')
    expect([response.status, await response.text()]).toEqual([418, 'teapot'])
    expect(response.headers.get('RateLimit')).toMatch(/^"default";r=0;t=\d+$/)
  })
})

test('what the application throws and is no Error rejects, and frees its slot', async () => {
  const app = new Hono().use(made({ concurrent: 1, key: () => 'client' }))
  app.get('/', () => Promise.reject('wrong'))
  for (let i = 0; i < 2; i += 1) await expect(app.request('/')).rejects.toBe('wrong')
})

test('the user is what the middleware of Hono for JWT has left', async () => {
  const limit = made({ ...LIMITED, key: 'user', address: () => undefined })
  const app = new Hono<{ Variables: { jwtPayload: { sub: string } } }>()
  app.use(async (c, next) => {
    c.set('jwtPayload', { sub: c.req.query('user') as string })
    await next()
  })
  app.use(limit).get('/', (c) => c.text(c.var.rateLimit?.policies[0]?.key as string))
  expect(await (await app.request('/?user=ada')).text()).toBe('user:ada')
  expect((await app.request('/?user=ada')).status).toBe(429)
  expect((await app.request('/?user=bob')).status).toBe(200)
})

test('a stream is settled at its end, and holds its slot until then', async () => {
  const store = memoryStore()
  const tokens = { name: 'tokens', limit: 100, window: '1d', cost: 50, unit: 'tokens' } as const
  const limit = made({
    store,
    key: () => 'client',
    policies: [
      { ...tokens, settle: (c: Context) => c.get('tokens') },
      { name: 'streams', concurrent: 1 },
    ],
  })
  let goOn = () => {}
  const app = new Hono().use(limit)
  app.get('/', (c) =>
    stream(c, async (written) => {
      await written.write('first')
      await new Promise<void>((resolve) => {
        goOn = resolve
      })
      c.set('tokens', 7)
      await written.write('second')
    }),
  )
  const left = async () =>
    (await limit.limiter.peek('client')).policies.map(({ remaining }) => remaining)
  const response = await app.request('/')
  const reader = (response.body as ReadableStream<Uint8Array>).getReader()
  expect((await reader.read()).value).toEqual(new TextEncoder().encode('first'))
  expect(await left()).toEqual([50, 0])
  expect((await app.request('/')).status).toBe(429)
  goOn()
  while (!(await reader.read()).done);
  for (let i = 0; i < 1000 && (await left())[0] === 50; i += 1) await new Promise(setImmediate)
  expect(await left()).toEqual([93, 1])
  store.close()
})

test('events have the pattern of the route, not the path', async () => {
  const routes: unknown[] = []
  const note = (message: unknown) => routes.push((message as DecisionEvent).route)
  subscribe('sluice:decision', note)
  const app = new Hono().use(made({ ...LIMITED, limit: 9 }))
  app.get('/users/:id', (c) => c.text('served'))
  await statuses(app, '/users/ada', '/else')
  unsubscribe('sluice:decision', note)
  expect(routes).toEqual(['/users/:id', undefined])
})

test('the refusal of `respond` keeps all of its cookies', async () => {
  const respond = () => {
    const headers = new Headers([
      ['Set-Cookie', 'a=1'],
      ['Set-Cookie', 'b=2'],
    ])
    return new Response('slower', { headers })
  }
  const app = new Hono().use(made({ ...LIMITED, limit: 0, respond }))
  const response = await app.request('/')
  expect([response.status, await response.text()]).toEqual([429, 'slower'])
  expect(response.headers.getSetCookie()).toEqual(['a=1', 'b=2'])
})

test.each<[string, (c: Context) => Response, number, string | null]>([
  ['a redirect', () => Response.redirect('http://example.com/slower', 303), 303, null],
  ['a redirect of the context', (c) => c.redirect('/slower'), 302, null],
  ['a status of its own', (c) => c.text('slower', 503), 503, 'slower'],
  ['no status', (c) => c.text('slower'), 429, 'slower'],
])('`respond` answers with %s', async (_, respond, status, text) => {
  const app = new Hono().use(made({ ...LIMITED, limit: 0, respond: (_decision, c) => respond(c) }))
  const response = await app.request('/')
  expect(response.status).toBe(status)
  expect([response.headers.has('Location'), response.headers.get('RateLimit-Policy')]).toEqual([
    status < 400,
    '"default";q=0;w=86400',
  ])
  if (text !== null) expect(await response.text()).toBe(text)
})

test('an option of another framework is unknown here', () => {
  expect(() => rateLimit({ ...LIMITED, hook: 'onRequest' } as never)).toThrow(
    expect.objectContaining({ code: 'SLUICE_OPTION_UNKNOWN' }),
  )
})
