// What other middleware and the server do with a response: replace it, drop it, send another.

import type { Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createAdaptorServer, upgradeWebSocket } from '@hono/node-server'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import { afterEach, describe, expect, test } from '@jest/globals'
import { until } from '@sluice/test-harness/redis'
import { type Context, Hono } from 'hono'
import { compress } from 'hono/compress'
import { etag } from 'hono/etag'
import { methodNotAllowed } from 'hono/method-not-allowed'
import { streamText } from 'hono/streaming'
import { timeout } from 'hono/timeout'
import { trimTrailingSlash } from 'hono/trailing-slash'
import { createAdaptorServer as createAdaptorServer1 } from 'node-server1'
import { RESPONSE_ALREADY_SENT as RESPONSE_ALREADY_SENT1 } from 'node-server1/utils/response'
import { WebSocket, WebSocketServer } from 'ws'
import { memoryStore, type RateLimitOptions, rateLimit } from './index.ts'

interface Env {
  Bindings: { outgoing: ServerResponse }
}

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

/** Two slots that end only when they are given back, and what each request really costs. */
function limited(settled: number[] = []) {
  const store = memoryStore()
  const limit = rateLimit({
    store,
    key: () => 'client',
    policies: [
      { name: 'slots', concurrent: 2, hold: '1h' },
      {
        name: 'units',
        limit: 100,
        window: '1d',
        cost: 10,
        settle: ({ res }: Context) => {
          settled.push(res.status)
          return 1
        },
      },
    ],
  } as RateLimitOptions)
  ends.push(() => store.close())
  const left = async () =>
    (await limit.limiter.peek('key:client')).policies.map(({ remaining }) => remaining)
  return { limit, left, settled }
}

async function untilLeft(left: () => Promise<number[]>, expected: string): Promise<void> {
  await until(async () => `${await left()}` === expected, { what: `${expected} are left` })
}

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  ends.push(() => {
    server.closeAllConnections()
    return new Promise((resolve) => server.close(resolve))
  })
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}

describe('a response that other middleware drops frees its slot, and is settled', () => {
  const CASES: Record<string, (app: Hono, limit: ReturnType<typeof rateLimit>) => string> = {
    'trimTrailingSlash()': (app, limit) => {
      app.use(trimTrailingSlash()).use(limit)
      return '/page/'
    },
    'methodNotAllowed()': (app, limit) => {
      app.use(methodNotAllowed({ app })).use(limit)
      app.post('/page', (c) => c.text('posted'))
      return '/page'
    },
    'timeout()': (app, limit) => {
      app.use(timeout(10)).use(limit)
      app.get('/slow', async (c) => {
        await new Promise((resolve) => setTimeout(resolve, 50))
        return c.text('late')
      })
      return '/slow'
    },
    'one that replaces an error page': (app, limit) => {
      app.use(async (c, next) => {
        await next()
        if (c.res.status === 500) c.res = new Response('our page', { status: 500 })
      })
      app.use(limit).get('/', (c) => c.text('failed', 500))
      return '/'
    },
    'one that throws after next()': (app, limit) => {
      app.use(async (_, next) => {
        await next()
        throw new Error('afterwards')
      })
      app.use(limit).get('/', (c) => c.json({ served: true }))
      app.onError((_, c) => c.text('failed', 500))
      return '/'
    },
    'one that looks at a copy': (app, limit) => {
      app.use(etag()).use(limit)
      app.get('/', (c) => c.text('served'))
      return '/'
    },
  }
  test.each(Object.keys(CASES))('%s', async (name) => {
    const { limit, left } = limited()
    const app = new Hono()
    const path = (CASES[name] as (typeof CASES)[string])(app, limit)
    for (let i = 1; i <= 5; i += 1) {
      expect((await app.request(path)).status).not.toBe(429)
      await untilLeft(left, `2,${100 - i}`)
    }
  })

  test('HEAD of a stream', async () => {
    const { limit, left } = limited()
    const app = new Hono().use(limit)
    app.get('/', (c) => streamText(c, async (stream) => void (await stream.write('never read'))))
    await app.request('/', { method: 'HEAD' })
    await untilLeft(left, '2,99')
  })
})

test('compress() behind and before the limiter keeps the response as it is', async () => {
  const { limit, left } = limited()
  const app = new Hono().use(compress()).use(limit).use(compress())
  app.get('/', (c) => c.text('x'.repeat(5000)))
  const origin = await listen(createAdaptorServer(app) as Server)
  const response = await fetch(`http://${origin}/`, { headers: { 'Accept-Encoding': 'gzip' } })
  expect([await response.text(), response.headers.get('Content-Encoding')]).toEqual([
    'x'.repeat(5000),
    'gzip',
  ])
  await untilLeft(left, '2,99')
})

describe.each([
  ['2', createAdaptorServer, RESPONSE_ALREADY_SENT],
  ['1', createAdaptorServer1 as unknown as typeof createAdaptorServer, RESPONSE_ALREADY_SENT1],
] as const)('@hono/node-server %s', (_, serve, alreadySent) => {
  test.each(['a plain limit', 'slots and settle'])(
    'what the application sends by itself is left alone: %s',
    async (kind) => {
      const { limit, left } = limited()
      const plain = rateLimit({ limit: 100, window: '1m', key: () => 'client' })
      ends.push(() => plain.limiter.close())
      let inProgress: number[] = []
      const app = new Hono<Env>().use(kind === 'a plain limit' ? plain : limit)
      app.get('/', (c) => {
        const { outgoing } = c.env
        outgoing.writeHead(200, { 'Content-Type': 'text/plain' })
        outgoing.write('first ')
        setTimeout(async () => {
          inProgress = await left()
          outgoing.end('second')
        }, 50)
        return alreadySent
      })
      const origin = await listen(serve(app) as Server)
      for (let i = 1; i <= 3; i += 1) {
        expect(await (await fetch(`http://${origin}/`)).text()).toBe('first second')
        if (kind === 'a plain limit') continue
        expect(inProgress).toEqual([1, 91 - i])
        await untilLeft(left, `2,${100 - i}`)
      }
      expect([...alreadySent.headers.keys()]).toEqual(['x-hono-already-sent'])
    },
  )

  test('what it has begun to send by itself ends with its client', async () => {
    const { limit, left } = limited()
    const app = new Hono<Env>().use(limit)
    app.get('/', (c) => {
      c.env.outgoing.writeHead(200, { 'Content-Type': 'text/plain' })
      c.env.outgoing.write('first ')
      return alreadySent
    })
    const origin = await listen(serve(app) as Server)
    const leaving = new AbortController()
    const response = await fetch(`http://${origin}/`, { signal: leaving.signal })
    await response.body?.getReader().read()
    leaving.abort()
    await untilLeft(left, '2,99')
  })

  test('a plain response goes through the server as without a limiter', async () => {
    const limit = rateLimit({ limit: 100, window: '1m', key: () => 'client' })
    ends.push(() => limit.limiter.close())
    const made: Response[] = []
    const app = new Hono().use(async (c, next) => {
      await next()
      expect(c.res).toBe(made.at(-1))
    })
    app.use(limit).get('/', (c) => {
      made.push(c.text('served'))
      return made.at(-1) as Response
    })
    const response = await fetch(`http://${await listen(serve(app) as Server)}/`)
    expect([await response.text(), response.headers.get('RateLimit-Policy')]).toEqual([
      'served',
      '"default";q=100;w=60',
    ])
    expect(made).toHaveLength(1)
  })
})

test('a plain limit reads nothing of the request but what its key needs', async () => {
  const limit = rateLimit({ limit: 100, window: '1m', key: (c) => c.req.path })
  ends.push(() => limit.limiter.close())
  const app = new Hono().use(limit).get('/', (c) => c.text('served'))
  const request = new Request('http://localhost/')
  const read: string[] = []
  for (const name of ['headers', 'signal', 'body'])
    Object.defineProperty(request, name, { get: () => read.push(name) })
  const response = await app.request(request)
  expect([response.status, response.headers.has('RateLimit'), read]).toEqual([200, true, []])
})

test.each(['RateLimit-Policy', 'RateLimit', 'RateLimit-Reset'])(
  'a response with its own %s gets the other fields',
  async (own) => {
    const limit = rateLimit({ limit: 100, window: '1m', key: () => 'client' })
    ends.push(() => limit.limiter.close())
    const app = new Hono().use(limit)
    app.get('/', () => new Response('served', { headers: { [own]: 'own' } }))
    const { headers } = await app.request('/')
    const fields = ['RateLimit-Policy', 'RateLimit', 'RateLimit-Remaining', 'RateLimit-Reset']
    expect(fields.filter((name) => !headers.has(name))).toEqual([])
    expect(fields.filter((name) => headers.get(name) === 'own')).toEqual([own])
  },
)

test('a WebSocket is upgraded behind the limiter, and what is no upgrade is settled', async () => {
  const { limit, left } = limited()
  const app = new Hono().use(limit)
  app.get(
    '/',
    upgradeWebSocket(() => ({
      onMessage: (event, socket) => void socket.send(`${event.data}!`),
    })),
  )
  const wss = new WebSocketServer({ noServer: true })
  const server = createAdaptorServer({ fetch: app.fetch, websocket: { server: wss } }) as Server
  const origin = await listen(server)
  for (let i = 1; i <= 4; i += 1) {
    const client = new WebSocket(`ws://${origin}/`)
    await new Promise((resolve) => client.once('open', resolve))
    client.send('hello')
    const [message] = await new Promise<unknown[]>((resolve) =>
      client.once('message', (...given) => resolve(given)),
    )
    expect(String(message)).toBe('hello!')
    client.terminate()
    expect((await fetch(`http://${origin}/`)).status).toBe(404)
    await untilLeft(left, `2,${100 - 2 * i}`)
  }
})

test('a handler that returns nothing is reported by Hono, and its slot is free', async () => {
  const { limit, left } = limited()
  const app = new Hono()
  const errors: string[] = []
  app.onError(({ message }, c) => {
    errors.push(message)
    return c.text('failed', 500)
  })
  app.use(limit)
  app.get('/', (() => {}) as never)
  for (let i = 0; i < 3; i += 1) expect((await app.request('/')).status).toBe(500)
  expect(errors).toEqual(Array(3).fill(expect.stringContaining('not finalized')))
  expect((await left())[0]).toBe(2)
})
