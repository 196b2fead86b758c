import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals'
import cors from '@koa/cors'
import type Koa3 from 'koa'
import { exposedHeaders, RateLimitError, type RateLimitOptions, rateLimit } from './index.ts'
import { listen, VERSIONS } from './testing.ts'

const REFUSED = { limit: 0, window: '1m', retryAfterJitter: 0 } as const
const ORIGIN = 'https://app.example'

describe.each(VERSIONS)('a refusal in %s', (version, Koa) => {
  let printed: jest.SpiedFunction<typeof console.error>

  beforeEach(() => {
    printed = jest.spyOn(console, 'error').mockImplementation(() => {})
  })
  afterEach(() => {
    expect(printed).not.toHaveBeenCalled()
    printed.mockRestore()
  })

  const refusing = (options: Partial<RateLimitOptions> = {}) =>
    new Koa().use(rateLimit({ ...REFUSED, ...options } as RateLimitOptions))

  /** The refusal, and what the application received on its event `error`. */
  async function refusalOf(app: Koa3) {
    const errors: unknown[] = []
    app.on('error', (error) => errors.push(error))
    const reply = await (await listen(app)).send('/', { headers: { Origin: ORIGIN } })
    return { reply, errors }
  }

  test('the default one is a response: no error event', async () => {
    const { reply, errors } = await refusalOf(refusing())
    expect([reply.status, errors]).toEqual([429, []])
    expect(reply.field('Content-Type')).toBe('application/problem+json')
  })

  test.each([
    ['an object', (ctx: Koa3.Context) => (ctx.body = { wait: 60 }), '{"wait":60}'],
    ['nothing', () => {}, expect.stringContaining('Quota Exceeded')],
    [
      'late, another status',
      async (ctx: Koa3.Context) => {
        await new Promise((resolve) => setImmediate(resolve))
        ctx.status = 503
        ctx.body = 'later'
      },
      'later',
    ],
  ])('respond writes %s', async (what, write, body) => {
    const { reply, errors } = await refusalOf(
      refusing({ respond: (_decision, ctx) => write(ctx) as unknown }),
    )
    expect([reply.status, reply.body]).toEqual([what.startsWith('late') ? 503 : 429, body])
    expect(reply.field('Retry-After')).toBe('60')
    expect(errors).toEqual([])
  })

  test.each([
    [429, 'Quota Exceeded'],
    [503, 'Temporary Reduced Capacity'],
  ] as const)(
    "respond: 'throw', status %i: every field passes Koa's error handler, nothing is printed",
    async (statusCode, title) => {
      const plain = await refusalOf(refusing({ statusCode }))
      const app = refusing({ statusCode, respond: 'throw' })
      // With Koa's own listener for errors, which prints those that are not the client's fault.
      const reply = await (await listen(app)).send()
      expect([reply.status, reply.body]).toEqual([statusCode, title])
      expect(reply.limitFields()).toEqual(plain.reply.limitFields())
      expect(Object.keys(reply.limitFields())).toHaveLength(6)
      expect(reply.field('Cache-Control')).toBe('no-store')
      expect(reply.field('Content-Type')).toBe('text/plain; charset=utf-8')
    },
  )

  test("respond: 'throw': the error says that it is the client's fault", async () => {
    const { errors } = await refusalOf(refusing({ respond: 'throw' }))
    expect(errors).toHaveLength(1)
    expect(errors[0]).toBeInstanceOf(RateLimitError)
    expect(errors[0]).toMatchObject({ status: 429, expose: true, code: 'SLUICE_REFUSED' })
    if (version === 'Koa 3') expect(errors[0]).toBeInstanceOf(Koa.HttpError)
  })

  test("respond: 'throw' of a second limiter keeps the fields of the first", async () => {
    const app = new Koa()
    app.use(rateLimit({ limit: 7, window: '1h', headers: 'legacy' }))
    app.use(rateLimit({ ...REFUSED, headers: 'draft-11', respond: 'throw' }))
    const { reply } = await refusalOf(app)
    expect(reply.status).toBe(429)
    expect(Object.keys(reply.limitFields()).sort()).toEqual([
      'ratelimit',
      'ratelimit-policy',
      'retry-after',
      'x-ratelimit-limit',
      'x-ratelimit-remaining',
      'x-ratelimit-reset',
    ])
  })

  test("respond: 'throw' of a denied client: 403, without Retry-After", async () => {
    const { reply } = await refusalOf(refusing({ respond: 'throw', deny: ['127.0.0.1'] }))
    expect([reply.status, reply.body, reply.limitFields()]).toEqual([403, 'Forbidden', {}])
    expect(reply.field('Cache-Control')).toBe('no-store')
  })

  test("respond: 'throw': the application's own handler renders it, the fields are set already", async () => {
    const app = new Koa()
    app.use(async (ctx, next) => {
      try {
        await next()
      } catch (error) {
        if (!(error instanceof RateLimitError)) throw error
        ctx.status = error.status
        ctx.body = error.decision.policies.map(({ name }) => name)
      }
    })
    app.use(rateLimit({ ...REFUSED, respond: 'throw' }))
    const { reply, errors } = await refusalOf(app)
    expect([reply.status, errors]).toEqual([429, []])
    expect(JSON.parse(reply.body)).toEqual(['default'])
    expect(Object.keys(reply.limitFields())).toHaveLength(6)
  })

  test.each(['throw', undefined] as const)(
    'with @koa/cors before it a script can read it: respond %p',
    async (respond) => {
      const app = new Koa()
      app.use(cors({ origin: ORIGIN, exposeHeaders: exposedHeaders(['draft-11', 'draft-6']) }))
      app.use(rateLimit({ ...REFUSED, ...(respond && { respond }) }))
      const { reply } = await refusalOf(app)
      expect([reply.status, reply.field('Access-Control-Allow-Origin')]).toEqual([429, ORIGIN])
      const exposed = reply.field('Access-Control-Expose-Headers')?.toLowerCase().split(',')
      expect(exposed).toEqual(expect.arrayContaining(Object.keys(reply.limitFields())))
    },
  )

  test('preflights are neither limited nor counted, wherever @koa/cors is; OPTIONS and HEAD are', async () => {
    const headers = { Origin: ORIGIN, 'Access-Control-Request-Method': 'POST' }
    const preflight = { method: 'OPTIONS', headers }
    const limit = rateLimit({ limit: 2, window: '1d' })
    for (const order of [
      [cors(), limit],
      [limit, cors()],
    ]) {
      const app = new Koa()
      for (const middleware of order) app.use(middleware)
      const site = await listen(app)
      expect(await site.statuses(5, '/', preflight)).toEqual(Array(5).fill(204))
      expect((await site.send('/', preflight)).limitFields()).toEqual({})
      expect(await site.statuses(1, '/', { method: 'HEAD' })).toEqual([404])
      expect(await site.statuses(2, '/', { method: 'OPTIONS' })).toEqual([404, 429])
      const head = await site.send('/', { method: 'HEAD' })
      const get = await site.send('/')
      expect([head.status, head.body, get.status]).toEqual([429, '', 429])
      expect(head.field('Content-Length')).toBe(String(get.body.length))
      await limit.limiter.reset('127.0.0.1')
    }
  })
})
