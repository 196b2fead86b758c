import { once } from 'node:events'
import { type ClientRequest, request } from 'node:http'
import { describe, expect, jest, test } from '@jest/globals'
import { manualClock } from '@sluice/core/testing'
import { until } from '@sluice/test-harness/redis'
import type Koa3 from 'koa'
import { memoryStore, rateLimit } from './index.ts'
import { listen, type Site, VERSIONS } from './testing.ts'

/** A request whose client can go away. */
function open({ url }: Site): ClientRequest {
  const sent = request(url, { agent: false })
  sent.on('error', () => {})
  sent.end()
  return sent
}

describe.each(VERSIONS)('a request that waits its turn in %s', (_, Koa) => {
  const QUEUE = { limit: 5, window: '1s', algorithm: 'leaky-bucket' } as const

  test('continues after its delay, and upstream after it', async () => {
    const delays: [waited: number, delayMs: number][] = []
    const app = new Koa()
    app.use(async (ctx, next) => {
      const start = performance.now()
      await next()
      delays.push([performance.now() - start, ctx.state.rateLimit?.delayMs as number])
    })
    // Its clock stands still: however slowly they come, each waits for those before it.
    const store = memoryStore({ clock: manualClock() })
    app.use(rateLimit({ ...QUEUE, store }))
    app.use((ctx) => {
      ctx.body = 'served'
    })
    const site = await listen(app)
    const replies = await Promise.all([site.send(), site.send(), site.send()])
    expect(replies.map(({ status, body }) => [status, body])).toEqual(
      Array(3).fill([200, 'served']),
    )
    expect(delays.map(([, delayMs]) => delayMs)).toEqual([0, 200, 400])
    for (const [waited, delayMs] of delays) expect(waited).toBeGreaterThanOrEqual(delayMs)
  })

  test('of a client that goes away never reaches the application, and frees its slot', async () => {
    const reached: string[] = []
    let ended = 0
    const delayed: number[] = []
    const app = new Koa()
    const failed = jest.fn()
    app.on('error', failed)
    app.use(async (_ctx, next) => {
      await next()
      ended += 1
    })
    app.use(
      rateLimit({
        limit: 1,
        window: '1h',
        algorithm: 'leaky-bucket',
        maxDelay: '1d',
        maxWaiting: 1,
        onDecision: ({ delayMs }) => void delayed.push(delayMs),
      }),
    )
    app.use((ctx) => {
      reached.push(ctx.path)
      ctx.body = 'served'
    })
    const site = await listen(app)
    expect(await site.statuses(1)).toEqual([200])
    for (let i = 1; i <= 2; i += 1) {
      const waiting = open(site)
      await until(() => delayed.length === 2 * i, { what: 'the request waits' })
      expect(delayed.at(-1)).toBeGreaterThan(1_800_000)
      expect(await site.statuses(1)).toEqual([429])
      waiting.destroy()
      await until(() => ended === 1 + 2 * i, { what: 'upstream goes on' })
    }
    expect(reached).toEqual(['/'])
    expect(failed).not.toHaveBeenCalled()
  })
})

describe.each(VERSIONS)('a charge in %s', (_, Koa) => {
  const OPTIONS = { limit: 100, window: '1d', algorithm: 'fixed-window', cost: 50 } as const

  /** Limits the application, and settles to what it has put into its state. */
  function settling(handle: Koa3.Middleware) {
    const settled: [Koa3.Context, Koa3.Context][] = []
    const limit = rateLimit({
      ...OPTIONS,
      settle(ctx, response) {
        settled.push([ctx, response])
        return ctx.state.used
      },
    })
    const app = new Koa()
    app.silent = true
    app.use(limit).use(handle)
    const expectRemaining = async (remaining: number) => {
      const what = `${remaining} are left`
      const left = async () => (await limit.limiter.peek('127.0.0.1')).remaining
      await until(async () => (await left()) === remaining, { what })
    }
    return { app, settled, expectRemaining }
  }

  test('is settled once the response has ended, after all that upstream did', async () => {
    const { app, settled, expectRemaining } = settling(async (ctx) => {
      ctx.body = 'served'
      await expectRemaining(50)
      ctx.state.used = 3
    })
    const site = await listen(app)
    expect((await site.send()).remaining).toBe(50)
    await expectRemaining(97)
    expect(settled).toHaveLength(1)
    expect(settled[0]?.[0]).toBe(settled[0]?.[1])
  })

  describe('of a client that has gone', () => {
    /** Sends a request that goes away while the application works for it. */
    async function leave(app: Koa3): Promise<void> {
      const gone: Promise<unknown>[] = []
      app.middleware.unshift((ctx, next) => {
        gone.push(once(ctx.res, 'close'))
        return next()
      })
      const site = await listen(app)
      const hanging = open(site)
      await until(() => gone.length === 1, { what: 'the request has come' })
      hanging.destroy()
      await gone[0]
    }

    test('is settled when all middleware has run, to what was used by then', async () => {
      let goOn = () => {}
      const { app, settled, expectRemaining } = settling(async (ctx) => {
        ctx.state.used = 20
        await new Promise<void>((resolve) => {
          goOn = resolve
        })
        ctx.state.used = 30
      })
      await leave(app)
      await until(() => settled.length === 1, { what: 'settle is asked' })
      await expectRemaining(50)
      goOn()
      await expectRemaining(70)
      expect(settled).toHaveLength(2)
    })

    test.each([
      [401, 'what the error says', Object.assign(new Error('wrong'), { status: 401 })],
      [500, 'nothing', new Error('wrong')],
      [500, 'nonsense', Object.assign(new Error('wrong'), { status: 'nonsense' })],
    ])('its status is %d by %s', async (status, __, error) => {
      let goOn = () => {}
      const { app, settled, expectRemaining } = settling(async (ctx) => {
        ctx.state.used = 7
        await new Promise<void>((resolve) => {
          goOn = resolve
        })
        throw error
      })
      await leave(app)
      goOn()
      await expectRemaining(93)
      expect(settled.at(-1)?.[0].status).toBe(status)
    })

    test('middleware in front may still turn an error into another status', async () => {
      const app = new Koa()
      let goOn = () => {}
      const statuses: number[] = []
      const rest = new Promise<void>((resolve) => {
        goOn = resolve
      })
      app.use(async (ctx, next) => {
        await next().catch(() => new Promise(setImmediate))
        ctx.status = 401
      })
      const settle = (ctx: Koa3.Context) => statuses.push(ctx.status) && 0
      app.use(rateLimit({ ...OPTIONS, settle })).use(rateLimit({ ...OPTIONS, settle }))
      app.use(async () => {
        await rest
        throw new Error('wrong password')
      })
      await leave(app)
      goOn()
      await until(() => statuses.includes(401), { what: 'it is settled' })
      expect(statuses.filter((status) => status !== 404)).toEqual([401, 401])
    })
  })

  test('is settled when the application fails', async () => {
    const { app, settled, expectRemaining } = settling((ctx) => {
      ctx.state.used = 7
      throw new Error('of the application')
    })
    const site = await listen(app)
    expect(await site.statuses(1)).toEqual([500])
    await expectRemaining(93)
    expect(settled).toHaveLength(1)
  })
})
