// WebSockets of @fastify/websocket, whose response nobody ends: they last as long as their connection.

import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import websocket from '@fastify/websocket'
import { afterEach, describe, expect, test } from '@jest/globals'
import { until } from '@sluice/test-harness/redis'
import fastify, { type FastifyInstance } from 'fastify'
import { WebSocket } from 'ws'
import { type RateLimitOptions, rateLimit } from './index.ts'
import { listen, portOf, statuses } from './testing.ts'

const clients: WebSocket[] = []
afterEach(() => {
  for (const each of clients.splice(0)) each.terminate()
})

type Open = () => Promise<WebSocket | IncomingMessage>

/** @param comesFirst the plugin that is registered first */
async function serve(
  options: RateLimitOptions,
  comesFirst: 'the limiter' | '@fastify/websocket',
): Promise<{ app: FastifyInstance; open: Open }> {
  const app = fastify()
  if (comesFirst === '@fastify/websocket') await app.register(websocket)
  await app.register(rateLimit, options)
  if (comesFirst === 'the limiter') await app.register(websocket)
  app.get('/', { websocket: true }, (socket) => {
    socket.on('message', (text) => socket.send(`${text}`))
  })
  app.get('/plain', async () => 'served')
  await listen(app)
  const open: Open = () => {
    const client = new WebSocket(`ws://127.0.0.1:${portOf(app)}`)
    clients.push(client.on('error', () => {}))
    return new Promise((resolve) => {
      client.once('open', () => resolve(client))
      client.once('unexpected-response', (_, response) => resolve(response))
    })
  }
  return { app, open }
}

function connections({ server }: FastifyInstance): Promise<number> {
  return new Promise((resolve) => server.getConnections((_, count) => resolve(count)))
}

describe.each(['the limiter', '@fastify/websocket'] as const)('%s is registered first', (first) => {
  test('a WebSocket keeps its slot while it is open, and is settled then', async () => {
    const settled: (string | undefined)[] = []
    const { app, open } = await serve(
      {
        policies: [
          { name: 'open', concurrent: 2, hold: '1h' },
          {
            name: 'units',
            limit: 100,
            window: '1d',
            cost: 10,
            settle: (request) => {
              settled.push(request.url)
              return 1
            },
          },
        ],
      },
      first,
    )
    const left = async () =>
      (await app.rateLimit.peek('127.0.0.1')).policies.map(({ remaining }) => remaining).join()
    const [one] = (await Promise.all([open(), open()])) as [WebSocket, WebSocket]
    one.send('hello')
    expect(`${(await once(one, 'message'))[0]}`).toBe('hello')
    expect(await statuses(app, 'GET /plain')).toEqual([429])
    expect([await left(), settled]).toEqual(['0,80', []])
    one.terminate()
    await until(async () => (await left()) === '1,89', { what: 'the first is free and settled' })
    expect(settled).toEqual(['/'])
  })

  test('a refused handshake gets the whole response, and its connection closes', async () => {
    const { app, open } = await serve({ limit: 1, window: '1d' }, first)
    expect(await open()).toBeInstanceOf(WebSocket)
    const refused = (await open()) as IncomingMessage
    expect([refused.statusCode, refused.headers['ratelimit-limit']]).toEqual([429, '1'])
    refused.resume()
    await until(async () => (await connections(app)) === 1, { what: 'its connection closes' })
  })
})

test('a client that asks a plain route for an upgrade, and leaves, frees nothing before its response', async () => {
  const app = fastify()
  await app.register(rateLimit, { concurrent: 1, hold: '1h' })
  let finish = () => {}
  app.get('/', async (_, reply) => {
    reply.hijack()
    await new Promise<void>((resolve) => {
      finish = resolve
    })
    reply.raw.end()
  })
  await listen(app)
  const client = new WebSocket(`ws://127.0.0.1:${portOf(app)}`)
  client.on('error', () => {})
  const left = async () => (await app.rateLimit.peek('127.0.0.1')).remaining
  await until(async () => (await left()) === 0, { what: 'it is served' })
  client.terminate()
  await until(async () => (await connections(app)) === 0, { what: 'it has left' })
  expect(await left()).toBe(0)
  finish()
  await until(async () => (await left()) === 1, { what: 'the slot is free' })
})
