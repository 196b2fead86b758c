import { describe, expect, jest, test } from '@jest/globals'
import type Koa3 from 'koa'
import { type Decision, type RateLimitOptions, rateLimit } from './index.ts'
import { listen, VERSIONS } from './testing.ts'

const OPTIONS = { limit: 5, window: '1d' } as const
const REFUSED = { limit: 0, window: '1d' } as const

/** A synchronous key and an asynchronous one: the two ways through the middleware. */
const WAYS: [string, RateLimitOptions['key']][] = [
  ['synchronous', () => 'client'],
  ['asynchronous', async () => 'client'],
]

describe.each(VERSIONS)('the middleware in %s', (_, Koa) => {
  test('ctx.state.rateLimit is the decision, or undefined where the request is exempt', async () => {
    const seen: (Decision | undefined)[] = []
    const app = new Koa()
    app.use(rateLimit({ ...OPTIONS, skip: (ctx) => ctx.path === '/health' }))
    app.use((ctx) => {
      seen.push(ctx.state.rateLimit)
      // @ts-expect-error It is a Decision, not any.
      const wrong: string = ctx.state.rateLimit
      ctx.body = wrong
    })
    const site = await listen(app)
    await site.send()
    await site.send('/health')
    expect(seen).toEqual([
      expect.objectContaining({ allowed: true, limit: 5, remaining: 4, source: 'store' }),
      undefined,
    ])
  })

  test('every function of the options gets the ctx object of the application', async () => {
    const given = new Set<unknown>()
    const note =
      <T>(result: T) =>
      (ctx: Koa3.Context): T => {
        given.add(ctx)
        return result
      }
    const limit = rateLimit({
      window: '1d',
      key: 'user',
      user: (ctx) => note<string>(ctx.state.session.login)(ctx),
      limit: note(1),
      cost: note(1),
      skip: note(false),
      settle: (ctx, response) => note(1)(ctx === response ? ctx : response),
      onDecision: (_decision, ctx) => note(undefined)(ctx),
      respond(_decision, ctx, response) {
        note(undefined)(ctx)
        note(undefined)(response)
      },
    })
    const contexts: unknown[] = []
    const app = new Koa()
    app.use((ctx, next) => {
      contexts.push(ctx)
      ctx.state.session = { login: ctx.get('x-login') }
      return next()
    })
    app.use(limit)
    const site = await listen(app)
    const headers = { 'x-login': 'alice' }
    expect(await site.statuses(2, '/', { headers })).toEqual([404, 429])
    expect([...given]).toEqual(contexts)
    expect(contexts).toHaveLength(2)
    expect(await limit.limiter.peek('user:alice', { limit: 1 })).toMatchObject({ remaining: 0 })
  })

  test('without user, the key is the id of ctx.state.user, else the address', async () => {
    const limit = rateLimit({ ...OPTIONS, key: 'user' })
    const app = new Koa()
    app.use((ctx, next) => {
      if (ctx.get('x-user')) ctx.state.user = { id: ctx.get('x-user') }
      return next()
    })
    app.use(limit)
    const site = await listen(app)
    await site.send('/', { headers: { 'x-user': '7' } })
    await site.statuses(2)
    expect(await limit.limiter.peek('user:7')).toMatchObject({ remaining: 4 })
    expect(await limit.limiter.peek('127.0.0.1')).toMatchObject({ remaining: 3 })
  })

  test.each(WAYS)('downstream ends before upstream continues: a key %s', async (_way, key) => {
    const order: unknown[] = []
    const app = new Koa()
    app.use(async (ctx, next) => {
      order.push('upstream', await next(), ctx.status, ctx.response.get('RateLimit-Remaining'))
      ctx.body = `${ctx.body}!`
    })
    app.use(rateLimit({ ...OPTIONS, key }))
    app.use(async (ctx) => {
      order.push('downstream')
      await new Promise((resolve) => setTimeout(resolve, 5))
      ctx.body = 'served'
      order.push('end of downstream')
      return 'its value'
    })
    const site = await listen(app)
    expect((await site.send()).body).toBe('served!')
    expect(order).toEqual(['downstream', 'end of downstream', 'upstream', 'its value', 200, '4'])
  })

  test.each(WAYS)(
    'a refusal is a response that upstream may change: a key %s',
    async (_way, key) => {
      const app = new Koa()
      const downstream = jest.fn()
      app.use(async (ctx, next) => {
        await next()
        if (ctx.status === 429) ctx.body = { slow: 'down' }
      })
      app.use(rateLimit({ ...REFUSED, key }))
      app.use(downstream)
      const reply = await (await listen(app)).send()
      expect([reply.status, JSON.parse(reply.body)]).toEqual([429, { slow: 'down' }])
      expect(reply.field('RateLimit')).toMatch(/^"default";r=0;t=\d+$/)
      expect(downstream).not.toHaveBeenCalled()
    },
  )

  test.each(WAYS)('errors from downstream pass untouched: a key %s', async (_way, key) => {
    const caught: unknown[] = []
    const thrown: unknown[] = []
    const app = new Koa()
    app.on('error', () => {})
    app.use(async (_ctx, next) => {
      await next().catch((error) => {
        caught.push(error)
        throw error
      })
    })
    app.use(rateLimit({ ...OPTIONS, key }))
    app.use((ctx) => {
      thrown.push(ctx.path === '/teapot' ? Object.assign(new Error(), { status: 418 }) : 'text')
      throw thrown.at(-1)
    })
    const site = await listen(app)
    const reply = await site.send('/teapot')
    // Koa's error handler starts from an empty response: the error has brought the fields.
    expect([reply.status, reply.field('RateLimit-Remaining')]).toEqual([418, '4'])
    expect(await site.statuses(1)).toEqual([500])
    expect(caught).toHaveLength(2)
    for (const [i, error] of caught.entries()) expect(error).toBe(thrown[i])
  })

  test('after a response was sent manually, a refusal only ends the request', async () => {
    const respond = jest.fn()
    for (const option of [respond, 'throw', undefined] as const) {
      const reached: unknown[] = []
      const errors: unknown[] = []
      const app = new Koa()
      app.on('error', (error) => errors.push(error))
      app.use((ctx, next) => {
        ctx.res.end('sent directly')
        return next()
      })
      app.use(rateLimit({ ...REFUSED, ...(option && { respond: option }) }))
      app.use((ctx) => void reached.push(ctx))
      const reply = await (await listen(app)).send()
      expect([reply.body, reply.limitFields(), reached, errors]).toEqual([
        'sent directly',
        {},
        [],
        [],
      ])
    }
    expect(respond).not.toHaveBeenCalled()
  })

  test('.limiter reads, resets and blocks what the middleware counts', async () => {
    const limit = rateLimit(OPTIONS)
    const site = await listen(new Koa().use(limit))
    await site.send()
    expect(await limit.limiter.peek('127.0.0.1')).toMatchObject({ remaining: 4 })
    await limit.limiter.block('127.0.0.1', '1m')
    expect((await site.send()).status).toBe(429)
    await limit.limiter.reset('127.0.0.1')
    expect((await site.send()).remaining).toBe(4)
  })

  test('applications with their own state and context types accept it', async () => {
    interface State {
      user?: { id: string }
      rateLimit?: Decision
    }
    const app = new Koa<State, { tenant: string }>()
    app.use((ctx, next) => {
      ctx.tenant = 'acme'
      return next()
    })
    app.use(rateLimit({ ...OPTIONS, key: (ctx) => ctx.tenant }))
    app.use((ctx) => {
      const remaining: number | undefined = ctx.state.rateLimit?.remaining
      ctx.body = { remaining }
    })
    expect(JSON.parse((await (await listen(app)).send()).body)).toEqual({ remaining: 4 })
  })
})

describe.each(VERSIONS)("the application's own errors in %s", (_, Koa) => {
  class Declared extends Error {
    readonly status = 404
    get headers(): never {
      throw new Error('read too early')
    }
  }
  const errors: [string, () => Error, object][] = [
    [
      'shared by all requests',
      (
        (shared) => () =>
          shared
      )(new Error('shared')),
      {},
    ],
    [
      'frozen',
      () => Object.freeze(Object.assign(new Error('frozen'), { status: 404 })),
      { status: 404 },
    ],
    [
      'with headers of their own',
      () => Object.assign(new Error('own'), { headers: { 'X-Own': '1' } }),
      { headers: { 'X-Own': '1' } },
    ],
    ['with a getter for headers', () => new Declared('declared'), { status: 404 }],
  ]

  test.each(errors)(
    '%s: thrown as they are, and every response has its own fields',
    async (__, make, own) => {
      const caught: [Error, PropertyDescriptorMap][] = []
      const app = new Koa()
      app.silent = true
      app.use(async (ctx, next) => {
        try {
          await next()
        } catch (error) {
          caught.push([error as Error, Object.getOwnPropertyDescriptors(error as Error) as never])
          ctx.status = 404
          ctx.body = 'caught'
        }
      })
      app.use(rateLimit({ limit: 5, window: '1d', algorithm: 'fixed-window' }))
      const thrown: Error[] = []
      app.use(() => {
        thrown.push(make())
        throw thrown.at(-1)
      })
      const site = await listen(app)
      const replies = [await site.send(), await site.send()]
      expect(replies.map(({ status, remaining }) => [status, remaining])).toEqual([
        [404, 4],
        [404, 3],
      ])
      expect(caught.map(([error]) => error)).toEqual(thrown)
      for (const [error, fields] of caught) {
        expect(thrown).toContain(error)
        expect(Object.keys(fields).filter((name) => !['stack', 'message'].includes(name))).toEqual(
          Object.keys(own),
        )
      }
    },
  )

  test('one error shared by all clients, rendered by Koa itself: each gets its own fields', async () => {
    const shared = Object.assign(new Error('shared'), { status: 404 })
    const app = new Koa()
    app.silent = true
    app.use(rateLimit({ limit: 5, window: '1d', key: (ctx) => ctx.get('x-client') }))
    app.use((ctx) => {
      if (ctx.path === '/shared') throw shared
    })
    const site = await listen(app)
    const ask = (client: string) => site.send('/shared', { headers: { 'x-client': client } })
    const replies = [await ask('a'), await ask('a'), await ask('b')]
    expect(replies.map(({ status, remaining }) => [status, remaining])).toEqual([
      [404, 4],
      [404, 3],
      [404, 4],
    ])
    expect(shared).not.toHaveProperty('headers')
  })

  test('the fields that an error has of its own go before those of the limiter', async () => {
    const app = new Koa()
    app.silent = true
    app.use(rateLimit({ limit: 5, window: '1d' }))
    app.use((ctx) => ctx.throw(400, { headers: { 'RateLimit-Limit': '7' } }))
    const reply = await (await listen(app)).send()
    expect([reply.status, reply.field('RateLimit-Limit'), reply.remaining]).toEqual([400, '7', 4])
  })
})
