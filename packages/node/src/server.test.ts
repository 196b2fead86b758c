import { once } from 'node:events'
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  request,
  type Server,
} from 'node:http'
import { createServer as createHttp2Server, connect as http2Connect } from 'node:http2'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { afterEach, describe, expect, test } from '@jest/globals'
import { until } from '@sluice/test-harness/redis'
import { type NodeRateLimit, type RateLimitOptions, rateLimit } from './index.ts'

const LIMITED = { limit: 1, window: '1d', algorithm: 'fixed-window' } as const

const closing: (() => unknown)[] = []
afterEach(() => Promise.all(closing.splice(0).map((close) => close())))

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing.push(() => {
    server.closeAllConnections()
    return new Promise((resolve) => server.close(resolve))
  })
  return (server.address() as AddressInfo).port
}

function limited(limit: NodeRateLimit, served: RequestListener): Promise<number> {
  return listen(
    createServer((request, response) => limit(request, response, () => served(request, response))),
  )
}

const hello: RequestListener = (_, response) => response.end('hello')

const made = (options: RateLimitOptions): NodeRateLimit => {
  const limit = rateLimit(options)
  closing.push(() => limit.limiter.close())
  return limit
}

const get = (port: number, path = '/') => fetch(`http://127.0.0.1:${port}${path}`)

test('the application gets the decision, a refused request does not reach it', async () => {
  const remaining: (number | undefined)[] = []
  const port = await limited(made(LIMITED), ({ rateLimit }, response) => {
    remaining.push(rateLimit?.remaining)
    response.end('hello')
  })
  expect(await (await get(port)).text()).toBe('hello')
  expect((await get(port)).status).toBe(429)
  expect(remaining).toEqual([0])
})

test('routes: an entry limits every spelling of its path, and exempts only one', async () => {
  const routes = { '/free': false, 'GET /login': { limit: 2, window: '1d' } } as const
  const port = await limited(made({ ...LIMITED, limit: 100, routes }), hello)
  const ask = async (target: string) => {
    const sent = request({ host: '127.0.0.1', port, path: target, agent: false })
    sent.end()
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    response.resume()
    return [response.statusCode, response.headers['ratelimit-limit']]
  }
  expect(await ask('/free?a=1')).toEqual([200, undefined])
  for (const target of ['http://example.com/free', '/free/', '/FREE', '//free', '/a/../free'])
    expect((await ask(target))[1]).toBe('100')
  const logins = ['/login?next=/', 'http://example.com/login', '/Login', '/a/../login', '//login']
  const statuses: unknown[] = []
  for (const target of logins) statuses.push((await ask(target))[0])
  expect(statuses).toEqual([200, 200, 429, 429, 429])
  expect(await ask('*')).toEqual([200, '100'])
})

describe('what a function of the options throws', () => {
  const failing = () =>
    made({
      ...LIMITED,
      key: () => {
        throw new Error('wrong')
      },
    })

  test.each([
    ['synchronously', failing],
    ['later', () => made({ ...LIMITED, key: () => Promise.reject(new Error('wrong')) })],
  ])('%s: the request gets a 500 and does not reach the application', async (_, limitOf) => {
    let served = 0
    const port = await limited(limitOf(), () => {
      served += 1
    })
    const response = await get(port)
    expect([response.status, await response.text()]).toEqual([500, 'Internal Server Error'])
    expect(served).toBe(0)
  })

  test('or what `failed` answers', async () => {
    const limit = failing()
    const port = await listen(
      createServer((request, response) =>
        limit(
          request,
          response,
          () => response.end('served'),
          (error) => response.writeHead(503).end(String(error)),
        ),
      ),
    )
    const response = await get(port)
    expect([response.status, await response.text()]).toEqual([503, 'Error: wrong'])
  })

  test('a refusal that is thrown has its own status and fields', async () => {
    const port = await limited(made({ ...LIMITED, limit: 0, respond: 'throw' }), hello)
    const response = await get(port)
    expect(response.status).toBe(429)
    expect(Number(response.headers.get('Retry-After'))).toBeGreaterThan(0)
  })
})

test.each([
  ['at once', () => 'client'],
  ['later', async () => 'client'],
])(
  'what the application throws is not taken for a failure of the limiter, decided %s',
  async (_, key) => {
    const limit = made({ ...LIMITED, key })
    const wrong = new Error('of the application')
    const failed: unknown[] = []
    const port = await listen(
      createServer(async (request, response) => {
        const next = () => {
          throw wrong
        }
        try {
          await limit(request, response, next, (error) => {
            failed.push(error)
            response.end()
          })
        } catch (error) {
          response.end(String(error))
        }
      }),
    )
    expect(await (await get(port)).text()).toBe('Error: of the application')
    expect(failed).toEqual([])
  },
)

test('a function that throws leaves a response alone whose head has been sent', async () => {
  const limit = made({ ...LIMITED, key: () => Promise.reject(new Error('wrong')) })
  const server = createServer(async (request, response) => {
    response.write('begun')
    await limit(request, response, () => response.write(', served'))
    response.end(', ended')
  })
  expect(await (await get(await listen(server))).text()).toBe('begun, ended')
})

test('HTTP/2', async () => {
  const limit = made(LIMITED)
  const remaining: (number | undefined)[] = []
  const server = createHttp2Server((request, response) =>
    limit(request, response, () => {
      remaining.push(request.rateLimit?.remaining)
      response.end('hello')
    }),
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const session = http2Connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  const statuses: unknown[] = []
  for (let i = 0; i < 2; i += 1) {
    const stream = session.request({ ':path': '/' })
    const [headers] = await once(stream, 'response')
    statuses.push(headers[':status'], headers['ratelimit-limit'])
    stream.resume()
    await once(stream, 'end')
  }
  expect(statuses).toEqual([200, '1', 429, '1'])
  expect(remaining).toEqual([0])
  session.close()
  await new Promise((resolve) => server.close(resolve))
})

test('a client that leaves before its turn does not reach the application', async () => {
  let served = 0
  let decided = 0
  const limit = made({
    ...LIMITED,
    algorithm: 'leaky-bucket',
    maxDelay: '2d',
    maxWaiting: 1,
    onDecision: () => {
      decided += 1
    },
  })
  const server = createServer((request, response) =>
    limit(request, response, () => {
      served += 1
      response.end()
    }),
  )
  const port = await listen(server)
  await get(port)
  const accepted = once(server, 'connection')
  const client = connect(port, '127.0.0.1')
  const [connection] = (await accepted) as [Socket]
  client.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
  await until(() => decided === 2, { what: 'the request waits' })
  expect((await get(port)).status).toBe(429)
  const closed = once(connection, 'close')
  client.destroy()
  await closed
  expect(served).toBe(1)
})
