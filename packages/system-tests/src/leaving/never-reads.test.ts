import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { Readable } from 'node:stream'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { memoryStore, type RateLimitOptions, rateLimit, redisStore } from '@sluice/express'
import { type RedisServer, startRedis, until } from '@sluice/test-harness/redis'
import express, { type Request } from 'express'
import { Redis } from 'ioredis'

let redis: RedisServer
let connection: Redis
let server: Server
let sockets: Socket[]

beforeAll(async () => {
  redis = await startRedis()
  connection = new Redis(redis.port, redis.host)
})
afterAll(async () => {
  connection.disconnect()
  await redis.stop()
})
beforeEach(() => {
  sockets = []
})
afterEach(async () => {
  for (const socket of sockets) socket.destroy()
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
})

const STORES: Record<string, () => NonNullable<RateLimitOptions['store']> & { close(): void }> = {
  memory: () => memoryStore(),
  Redis: () => redisStore(connection),
}
const LIMIT = 1_000_000
const WINDOW_MS = 400

describe.each(Object.keys(STORES))('a client that never reads, with the store %s', (kind) => {
  test.each([100_000, 0])('pays for its bytes within a window, cost: %d', async (cost) => {
    await connection.flushall()
    const store = (STORES[kind] as (typeof STORES)[string])()
    const before = new WeakMap<Request, number>()
    const bytes = rateLimit({
      store,
      prefix: `reserving-${cost}`,
      deadline: '1m',
      limit: LIMIT,
      window: `${WINDOW_MS}ms`,
      algorithm: 'token-bucket',
      cost(request) {
        before.set(request, request.socket.bytesWritten)
        return cost
      },
      settle: (request) => request.socket.bytesWritten - (before.get(request) ?? 0),
    })
    let sent = 0
    let begun = 0
    const app = express()
    let decided = () => {}
    const all = new Promise<void>((resolve) => {
      decided = resolve
    })
    app.get('/', bytes, async (_, response) => {
      begun += 1
      if (begun === 5) decided()
      await all
      const chunk = Buffer.alloc(64_000)
      const file = new Readable({
        read() {
          sent += chunk.length
          this.push(chunk)
        },
      })
      file.pipe(response)
    })
    server = createServer(app)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    for (let i = 0; i < 5; i += 1) {
      const socket = connect(port, '127.0.0.1').pause()
      socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
      sockets.push(socket)
    }
    await all
    await until(async () => (await bytes.limiter.peek('127.0.0.1')).retryAfterMs > 2 * WINDOW_MS, {
      what: 'they are in debt by more than two windows',
    })
    expect(sent).toBeGreaterThan(3 * LIMIT)
    const answer = await fetch(`http://127.0.0.1:${port}`)
    expect([answer.status, await answer.json()]).toEqual([429, expect.anything()])
    expect(begun).toBe(5)
    store.close()
  })
})
