import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { manualClock } from '@sluice/core/testing'
import { memoryStore, type RateLimitOptions, rateLimit, redisStore } from '@sluice/express'
import { type RedisServer, startRedis, until } from '@sluice/test-harness/redis'
import express, { type Express } from 'express'
import { Redis } from 'ioredis'

let redis: RedisServer
let client: Redis
let server: Server
let sockets: Socket[]

beforeAll(async () => {
  redis = await startRedis()
  client = new Redis(redis.port, redis.host)
})
afterAll(async () => {
  client.disconnect()
  await redis.stop()
})
beforeEach(async () => {
  sockets = []
  await client.flushall()
})
afterEach(async () => {
  for (const socket of sockets) socket.destroy()
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
})

async function listen(app: Express): Promise<string> {
  // However long the machine takes, the server closes no connection by itself.
  server = createServer({ keepAliveTimeout: 0 }, app)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** A request on a connection of its own; `status` once it is answered. */
function ask(): { readonly socket: Socket; status: string | undefined; readonly text: string } {
  const asked = { socket: connect((server.address() as AddressInfo).port, '127.0.0.1'), text: '' }
  sockets.push(asked.socket)
  asked.socket.setEncoding('latin1').on('error', () => {})
  asked.socket.on('data', (text: string) => {
    asked.text += text
  })
  asked.socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
  return Object.defineProperty(asked, 'status', {
    get: () => /^HTTP\/1\.1 (\d+)/.exec(asked.text)?.[1],
  }) as never
}

const STORES: Record<string, () => NonNullable<RateLimitOptions['store']> & { close(): void }> = {
  memory: () => memoryStore({ clock: manualClock() }),
  Redis: () => redisStore(client, { clock: manualClock() }),
}

describe.each(Object.keys(STORES))('delayed requests, Express and %s', (kind) => {
  test('of 300 that would wait 50 do, half of the slots; the others are refused immediately and not charged', async () => {
    const store = (STORES[kind] as (typeof STORES)[string])()
    let served = 0
    const app = express()
    const limit = rateLimit({
      store,
      limit: 1,
      window: '1h',
      algorithm: 'leaky-bucket',
      maxDelay: '1000d',
      maxWaiting: 100,
      deadline: '1m',
    })
    app.use(limit, (_, response) => {
      served += 1
      response.end()
    })
    await listen(app)
    const asked = Array.from({ length: 301 }, ask)
    const answered = () => asked.filter(({ status }) => status !== undefined)
    await until(() => answered().length === 251, { what: '251 are answered' })
    expect(served).toBe(1)
    const refused = answered().filter(({ status }) => status === '429')
    expect(refused).toHaveLength(250)
    for (const { text } of refused) expect(text).toMatch(/^Retry-After: [1-9]\d*\r$/m)
    // 51 are in the queue: the one served, and those that wait.
    await until(async () => (await limit.limiter.peek('127.0.0.1')).remaining === 24_001 - 51, {
      what: 'what was refused has been given back',
    })
    // Each client that disconnects makes room for exactly one more.
    const waiting = asked.filter(({ status }) => status === undefined)
    waiting[0]?.socket.destroy()
    await until(
      () => new Promise((resolve) => server.getConnections((_, n) => resolve(n === 300))),
      {
        what: 'the server has seen that it went away',
      },
    )
    const [next, another] = [ask(), ask()]
    await until(() => (next.status ?? another.status) === '429', {
      what: 'one of two is refused',
    })
    expect([next.status, another.status]).toContain(undefined)
    expect(served).toBe(1)
    store.close()
  })
})

describe('the response that takes the last unit', () => {
  async function last(respond: (response: express.Response) => unknown): Promise<Headers> {
    const app = express()
    app.use(rateLimit({ limit: 1, window: '1m' }), (_, response) => {
      respond(response)
    })
    const response = await fetch(await listen(app), { redirect: 'manual' })
    return response.headers
  }

  test.each<[string, (response: express.Response) => unknown]>([
    ['redirect', (response) => response.redirect('/elsewhere')],
    ['redirect with 308', (response) => response.redirect(308, '/elsewhere')],
    ['sendStatus 304', (response) => response.sendStatus(304)],
    ['writeHead', (response) => response.writeHead(302, { Location: '/elsewhere' }).end()],
  ])('%s: the policy, but not what is left', async (_, respond) => {
    const headers = await last(respond)
    for (const name of ['RateLimit', 'RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'])
      expect([name, headers.get(name)]).toEqual([name, null])
    expect(headers.get('RateLimit-Policy')).toBe('"default";q=1;w=60')
  })

  test('send: all of it', async () => {
    const headers = await last((response) => response.send('done'))
    expect(headers.get('RateLimit')).toMatch(/^"default";r=0;t=\d+$/)
    expect(headers.get('RateLimit-Remaining')).toBe('0')
  })
})
