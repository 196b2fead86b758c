// An application of Elysia on the server of its runtime, Bun or Node, and its own client. Prints what happened.

import { request } from 'node:http'
import { treaty } from '@elysiajs/eden'
import { memoryStore, rateLimit } from '@sluice/elysia'
import { Elysia } from 'elysia'
import { WebSocket } from 'ws'
import { elysiaServer } from './elysia-server.ts'

const config = 'Bun' in globalThis ? {} : { adapter: (await import('@elysiajs/node')).node() }
const slots = rateLimit({ store: memoryStore(), concurrent: 2, hold: '1h', as: 'scoped' })
const app = new Elysia(config)
  .use(rateLimit({ limit: 9, window: '1d', routes: { '/login': { limit: 1 }, '/echo': false } }))
  .get('/', ({ rateLimit }) => ({ left: rateLimit?.remaining }))
  .get('/login', () => 'welcome')
  .use(slots)
  .ws('/echo', { message: (ws, message) => void ws.send(message) })

const server = elysiaServer(app as unknown as Elysia)
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
const { port } = server.address() as { port: number }

interface Client {
  readonly socket: WebSocket
  readonly status: number
}

/** Resolves with the answer to a handshake. */
function handshake(): Promise<Client & { isTold: boolean }> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/echo`)
  return new Promise((resolve, reject) => {
    const told = (status: number, headers: Record<string, unknown>) =>
      resolve({
        socket,
        status,
        isTold: headers['retry-after'] !== undefined,
      })
    socket.once('open', () => told(101, {}))
    socket.once('unexpected-response', (_, { statusCode, headers }) =>
      told(statusCode as number, headers),
    )
    socket.once('error', reject)
  })
}

function echo({ socket }: Client): Promise<string> {
  socket.send('hello')
  return new Promise((resolve) => socket.once('message', (data) => resolve(String(data))))
}

const clients = [await handshake(), await handshake()]
const open = await Promise.all(clients.map(echo))
const refused = await handshake()
clients[0]?.socket.close()
let again = await handshake()
for (const until = Date.now() + 60_000; again.status === 429 && Date.now() < until; )
  again = await handshake()
const last = clients[1] as Client
last.socket.terminate()

const statusOf = (path: string, headers = {}) =>
  new Promise((resolve, reject) => {
    const sent = request({ port, host: '127.0.0.1', path, headers }, (response) => {
      response.resume()
      resolve(response.statusCode)
    })
    sent.on('error', reject).end()
  })
const noUpgrade: unknown[] = []
for (let i = 0; i < 3; i += 1) noUpgrade.push(await statusOf('/echo'))
const shortHost: unknown[] = []
for (let i = 0; i < 2; i += 1)
  shortHost.push(await statusOf('/login', 'Bun' in globalThis ? { Host: 'a' } : {}))

const api = treaty<typeof app>(`127.0.0.1:${port}`)
const { data, status } = await api.get()
const result = {
  open,
  refused: [refused.status, refused.isTold],
  afterClose: again.status,
  noUpgrade,
  shortHost,
  got: [data, status],
}
console.log(JSON.stringify(result))
process.exit()
