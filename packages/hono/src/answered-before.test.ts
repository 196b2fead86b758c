// Requests that are answered, or whose clients leave, while the limiter or the application still works.

import { once } from 'node:events'
import type { Server } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { createAdaptorServer } from '@hono/node-server'
import { getConnInfo } from '@hono/node-server/conninfo'
import { afterEach, describe, expect, jest, test } from '@jest/globals'
import { until } from '@sluice/test-harness/redis'
import { type Context, Hono, type MiddlewareHandler } from 'hono'
import { compress } from 'hono/compress'
import { streamText } from 'hono/streaming'
import { timeout } from 'hono/timeout'
import { createAdaptorServer as createAdaptorServer1 } from 'node-server1'
import { memoryStore, type RateLimitOptions, rateLimit } from './index.ts'
import { shedLoad } from './overload.ts'

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

/** Is passed when the test opens it. */
function gate() {
  let open = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { open, opened }
}

/**
 * A slot that ends only when it is given back, an estimate, and what `settle` saw of the response.
 *
 * @param more options, such as a `skip` on which the decision waits as on a slow store
 */
function limited(more: object = {}) {
  const store = memoryStore()
  const seen: unknown[] = []
  const settle = ({ res }: Context) => {
    seen.push(res.status)
    return 1
  }
  const limit = rateLimit({
    store,
    key: () => 'client',
    policies: [
      { name: 'slots', concurrent: 2, hold: '1h' },
      { name: 'units', limit: 100, window: '1d', cost: 10, settle },
    ],
    ...more,
  } as RateLimitOptions)
  ends.push(() => store.close())
  const untilLeft = (expected: string) =>
    until(
      async () => {
        const { policies } = await limit.limiter.peek('key:client')
        return policies.map(({ remaining }) => remaining).join() === expected
      },
      { what: `${expected} are left` },
    )
  return { limit, seen, untilLeft }
}

/** Notes what fails behind it, which nobody hears of once the request is answered. */
function noting(errors: unknown[]): MiddlewareHandler {
  return async (_, next) => {
    try {
      await next()
    } catch (error) {
      errors.push(error)
      throw error
    }
  }
}

describe.each([
  ['2', createAdaptorServer],
  ['1', createAdaptorServer1 as unknown as typeof createAdaptorServer],
] as const)('@hono/node-server %s', (_, serve) => {
  async function listen(app: Hono): Promise<number> {
    const server = serve(app) as Server
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    ends.push(() => {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(resolve))
    })
    return (server.address() as AddressInfo).port
  }

  test.each(['text', 'a stream'])(
    'timeout() before the limiter; then the handler returns %s',
    async (kind) => {
      const { limit, untilLeft, seen } = limited()
      const errors: unknown[] = []
      const late = gate()
      const app = new Hono().use(timeout(20)).use(noting(errors)).use(limit)
      app.get('/', async (c) => {
        await late.opened
        return kind === 'text'
          ? c.text('late')
          : streamText(c, async (stream) => void (await stream.write('late')))
      })
      const response = await fetch(`http://127.0.0.1:${await listen(app)}/`)
      expect([response.status, await response.text()]).toEqual([504, 'Gateway Timeout'])
      late.open()
      await untilLeft('2,99')
      // When the response is over, and when the handler is.
      expect(seen).toEqual([504, 504])
      // Hono's own `stream` asks for the body of what was sent.
      if (kind === 'text') expect(errors).toEqual([])
    },
  )

  test.each([
    ['admits', 1],
    ['refuses', 0],
  ])('timeout() before a limiter that %s when the request has been answered', async (_, slots) => {
    const errors: unknown[] = []
    const late = gate()
    const passed = gate()
    const limit = rateLimit({
      concurrent: slots,
      key: () => 'client',
      skip: () => late.opened.then(() => false),
    })
    ends.push(() => limit.limiter.close())
    const app = new Hono().use(timeout(20)).use(async (_, next) => {
      await noting(errors)(_, next).finally(passed.open)
    })
    app.use(limit).get('/', (c) => c.text('late'))
    const response = await fetch(`http://127.0.0.1:${await listen(app)}/`)
    expect([response.status, await response.text()]).toEqual([504, 'Gateway Timeout'])
    late.open()
    await passed.opened
    expect(errors).toEqual([])
  })

  test('timeout() before a limiter that asks for the address when the connection has ended', async () => {
    const limit = rateLimit({
      limit: 5,
      window: '1d',
      address: (c) => getConnInfo(c).remote.address,
    })
    ends.push(() => limit.limiter.close())
    const gone = gate()
    const passed = gate()
    let begun = 0
    const app = new Hono<{ Bindings: { incoming: { socket: NodeJS.EventEmitter } } }>()
    app.use(timeout(20)).use(async (c, next) => {
      c.env.incoming.socket.once('close', gone.open)
      await gone.opened
      await next().finally(passed.open)
    })
    app.use(limit).get('/', (c) => {
      begun += 1
      return c.text('late')
    })
    const port = await listen(app as unknown as Hono)
    const response = await fetch(`http://127.0.0.1:${port}/`, { headers: { Connection: 'close' } })
    expect(response.status).toBe(504)
    await passed.opened
    expect([begun, (await limit.limiter.peek('unknown')).remaining]).toEqual([0, 5])
  })

  /** With each, the number of requests that begin before others wait. */
  const QUEUES = {
    rateLimit(limit: RateLimitOptions) {
      return [rateLimit(limit), 1] as const
    },
    shedLoad() {
      // Time stands still, so nothing depends on the machine.
      jest.spyOn(performance, 'now').mockReturnValue(1000)
      ends.push(() => jest.restoreAllMocks())
      return [shedLoad({ queue: { max: 10, maxWait: '1m' } }), 20] as const
    },
  }
  test.each(Object.entries(QUEUES))(
    'timeout() before %s: who has been answered leaves the queue',
    async (_, make) => {
      const store = memoryStore()
      ends.push(() => store.close())
      const [queue, places] = make({ store, concurrent: 1, key: () => 'client', maxWait: '1m' })
      const units = rateLimit({ store, limit: 100, window: '1d', key: () => 'client', prefix: 'u' })
      const begun: string[] = []
      const seen: unknown[] = []
      const errors: unknown[] = []
      const finished = gate()
      let closed = 0
      const app = new Hono<{ Bindings: { outgoing: NodeJS.EventEmitter } }>()
      app.use('/late', async (c, next) => {
        c.env.outgoing.once('close', () => {
          closed += 1
        })
        return timeout(20)(c, next)
      })
      app.use(noting(errors)).use('/late', async (c, next) => {
        await next()
        seen.push(c.res.status)
      })
      app
        .use(queue)
        .use(units)
        .get('*', async (c) => {
          begun.push(c.req.path)
          await finished.opened
          return c.text('served')
        })
      const origin = `http://127.0.0.1:${await listen(app as unknown as Hono)}`
      const served = Array.from({ length: places }, () => fetch(`${origin}/first`))
      await until(() => begun.length === places, { what: 'all places are taken' })
      const late = await Promise.all([1, 2, 3].map(() => fetch(`${origin}/late`)))
      for (const { status } of late) expect(status).toBe(504)
      await until(() => closed === 3, { what: 'the responses are over' })
      served.push(fetch(`${origin}/live`))
      finished.open()
      for (const response of await Promise.all(served)) expect(await response.text()).toBe('served')
      expect(begun).toEqual([...Array(places).fill('/first'), '/live'])
      expect((await units.limiter.peek('key:client')).remaining).toBe(100 - places - 1)
      expect(errors).toEqual([])
      expect(seen).toEqual([504, 504, 504])
    },
  )

  test('compress() before a limiter that admits when the client has gone', async () => {
    const late = gate()
    const { limit } = limited({ skip: () => late.opened.then(() => false) })
    const errors: unknown[] = []
    const gone = gate()
    const passed = gate()
    const stopped = gate()
    const app = new Hono<{ Bindings: { outgoing: NodeJS.EventEmitter } }>()
    app.use(async (c, next) => {
      c.env.outgoing.once('close', gone.open)
      await noting(errors)(c, next).finally(passed.open)
    })
    app.use(compress()).use(limit)
    app.get('/', (c) =>
      streamText(c, async (stream) => {
        while (!stream.aborted) {
          await stream.write('still here')
          await stream.sleep(5)
        }
        stopped.open()
      }),
    )
    const client = connect(await listen(app as unknown as Hono), '127.0.0.1')
    client.write('GET / HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: gzip\r\n\r\n')
    await once(client, 'connect')
    setTimeout(() => client.destroy(), 30)
    await gone.opened
    late.open()
    await passed.opened
    expect(errors).toEqual([])
    await stopped.opened
  })

  test('settle reads the body of the response in c.res', async () => {
    const settle = async ({ res }: Context) =>
      ((await res.clone().json()) as { tokens: number }).tokens
    const limit = rateLimit({ limit: 100, window: '1d', cost: 10, key: () => 'client', settle })
    ends.push(() => limit.limiter.close())
    const app = new Hono().use(limit)
    app.get('/', (c) => c.json({ tokens: 7 }))
    const response = await fetch(`http://127.0.0.1:${await listen(app)}/`)
    expect(await response.json()).toEqual({ tokens: 7 })
    await until(async () => (await limit.limiter.peek('key:client')).remaining === 93, {
      what: 'what was not used is back',
    })
  })
})
