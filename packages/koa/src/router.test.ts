import { describe, expect, test } from '@jest/globals'
import Router from '@koa/router'
import { rateLimit } from './index.ts'
import { listen, VERSIONS } from './testing.ts'

const ONCE = { limit: 1, window: '1d' } as const

describe.each(VERSIONS)('@koa/router in %s', (_, Koa) => {
  /** An application with the router's routes and nothing else. */
  const routed = (router: Router) => new Koa().use(router.routes())

  test('on one route it limits there and nowhere else, and knows the parameters', async () => {
    const router = new Router()
    const limit = rateLimit({ ...ONCE, key: (ctx) => ctx.params.id })
    router.get('/users/:id', limit, (ctx) => {
      ctx.body = { left: ctx.state.rateLimit?.remaining }
    })
    router.get('/free', (ctx) => {
      ctx.body = 'free'
    })
    const site = await listen(routed(router))
    expect((await site.send('/users/1')).body).toBe('{"left":0}')
    expect(await site.statuses(1, '/users/1')).toEqual([429])
    expect(await site.statuses(1, '/users/2')).toEqual([200])
    const free = await site.send('/free')
    expect([free.status, free.limitFields()]).toEqual([200, {}])
  })

  test('on a router it limits the routes of that router', async () => {
    const api = new Router({ prefix: '/api' })
    api.use(rateLimit({ ...ONCE, limit: 2 }))
    api.get('/a', (ctx) => {
      ctx.body = 'a'
    })
    api.get('/b', (ctx) => {
      ctx.body = 'b'
    })
    const app = routed(api)
    app.use((ctx) => {
      ctx.body = 'outside'
    })
    const site = await listen(app)
    expect(await site.statuses(1, '/api/a')).toEqual([200])
    expect(await site.statuses(2, '/api/b')).toEqual([200, 429])
    expect(await site.statuses(2)).toEqual([200, 200])
  })

  test('on the application it limits unknown routes too', async () => {
    const app = new Koa().use(rateLimit(ONCE)).use(new Router().routes())
    expect(await (await listen(app)).statuses(2, '/nowhere')).toEqual([404, 429])
  })

  test('one more on a route adds a limit', async () => {
    const router = new Router()
    router.use(rateLimit({ limit: 3, window: '1d' }))
    router.get('/login', rateLimit(ONCE), (ctx) => {
      ctx.body = 'in'
    })
    router.get('/other', (ctx) => {
      ctx.body = 'other'
    })
    const site = await listen(routed(router))
    const login = await site.send('/login')
    expect(login.field('RateLimit-Policy')).toBe('"default";q=3;w=86400, "default-2";q=1;w=86400')
    expect(await site.statuses(1, '/login')).toEqual([429])
    expect(await site.statuses(2, '/other')).toEqual([200, 429])
  })

  test('the same limiter on two routes is one quota', async () => {
    const shared = rateLimit({ ...ONCE, limit: 3 })
    const router = new Router()
    for (const path of ['/a', '/b'])
      router.get(path, shared, (ctx) => {
        ctx.body = path
      })
    const site = await listen(routed(router))
    expect(await site.statuses(2, '/a')).toEqual([200, 200])
    expect(await site.statuses(2, '/b')).toEqual([200, 429])
  })

  test('routes: an entry replaces the options of its route, false exempts it', async () => {
    const limit = rateLimit({
      limit: 6,
      window: '1d',
      routes: {
        'POST /login': { limit: 1, window: '1d' },
        '/users/:id': { cost: 2 },
        '/users/me': { key: () => 'me' },
        'GET /users/:id/orders{/:order}': { limit: 2, window: '1d' },
        '/files/*path': { limit: 0 },
        '/health': false,
      },
    })
    const router = new Router()
    router.post('/login', (ctx) => {
      ctx.body = 'in'
    })
    router.get('/users/:id', (ctx) => {
      ctx.body = ctx.params.id
    })
    const site = await listen(new Koa().use(limit).use(router.routes()))
    const post = { method: 'POST' }
    const login = await site.send('/login', post)
    expect([login.status, login.field('RateLimit-Policy')]).toEqual([200, '"default";q=1;w=86400'])
    expect(await site.statuses(2, '/login/', post)).toEqual([429, 429])
    expect((await site.send('/login')).remaining).toBe(5)
    expect((await site.send('/users/7?a=/health')).remaining).toBe(3)
    expect((await site.send('/users/7', { method: 'HEAD' })).remaining).toBe(1)
    expect((await site.send('/users/me')).remaining).toBe(5)
    expect(await site.statuses(3, '/users/7/orders')).toEqual([404, 404, 429])
    expect(await site.statuses(1, '/users/8/orders/1')).toEqual([429])
    expect(await site.statuses(1, '/files/a/b')).toEqual([429])
    expect((await site.send('/health')).limitFields()).toEqual({})
    expect((await site.send('/other')).remaining).toBe(0)
    expect(await site.statuses(1, '/other')).toEqual([429])
  })

  test('routes: the path is the whole path, in a router with a prefix too', async () => {
    const router = new Router({ prefix: '/api' })
    router.use(rateLimit({ ...ONCE, routes: { '/api/health': false } }))
    for (const path of ['/health', '/data'])
      router.get(path, (ctx) => {
        ctx.body = path
      })
    const site = await listen(routed(router))
    expect(await site.statuses(3, '/api/health')).toEqual([200, 200, 200])
    expect(await site.statuses(2, '/api/data')).toEqual([200, 429])
  })

  test.each(['login', 'post /login', 'POST login', 'FETCH /login', '/users/:', '/(.*)'])(
    'routes: %j throws at construction',
    (route) => {
      expect(() => rateLimit({ ...ONCE, routes: { [route]: false } })).toThrow(
        expect.objectContaining({ name: 'SluiceError', code: 'SLUICE_ROUTE' }),
      )
    },
  )
})
