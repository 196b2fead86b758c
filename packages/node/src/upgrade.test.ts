import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { afterEach, expect, test } from '@jest/globals'
import { until } from '@sluice/test-harness/redis'
import { WebSocket, WebSocketServer } from 'ws'
import { type RateLimitOptions, rateLimit } from './index.ts'

const closing: (() => unknown)[] = []
afterEach(() => Promise.all(closing.splice(0).map((close) => close())))

interface Site {
  readonly url: string
  /** The requests whose handshake went on. */
  readonly opened: IncomingMessage[]
}

async function serve(options: RateLimitOptions): Promise<Site> {
  const limit = rateLimit(options)
  const sockets = new WebSocketServer({ noServer: true })
  const opened: IncomingMessage[] = []
  const connections = new Set<Socket>()
  const server = createServer()
  server.on('connection', (socket: Socket) => {
    connections.add(socket)
    socket.once('close', () => connections.delete(socket))
  })
  server.on('upgrade', (request, socket, head) =>
    limit.upgrade(request, socket, () => {
      opened.push(request)
      sockets.handleUpgrade(request, socket, head, (each) => {
        each.on('error', () => {})
        each.on('message', (text) => each.send(`${text}`))
      })
    }),
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing.push(() => {
    for (const each of connections) each.destroy()
    limit.limiter.close()
    return new Promise((resolve) => server.close(resolve))
  })
  return { url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`, opened }
}

/** An open connection, or the response with which the handshake was refused. */
async function open({ url }: Site): Promise<WebSocket | IncomingMessage> {
  const client = new WebSocket(url)
  client.on('error', () => {})
  return new Promise((resolve) => {
    client.once('open', () => resolve(client))
    client.once('unexpected-response', (_, response) => resolve(response))
  })
}

const opens = async (site: Site) => (await open(site)) instanceof WebSocket

test('so many handshakes are admitted; a refusal is a whole response, and closes the connection', async () => {
  const site = await serve({ limit: 1, window: '1d' })
  const client = (await open(site)) as WebSocket
  client.send('hello')
  expect(String((await once(client, 'message'))[0])).toBe('hello')
  expect(site.opened[0]?.rateLimit?.remaining).toBe(0)

  const refused = (await open(site)) as IncomingMessage
  expect(refused.statusCode).toBe(429)
  expect(refused.headers).toMatchObject({
    connection: 'close',
    'ratelimit-policy': '"default";q=1;w=86400',
    'content-type': 'application/problem+json',
  })
  let body = ''
  for await (const chunk of refused) body += chunk
  expect(JSON.parse(body)).toMatchObject({ status: 429 })
  await until(() => refused.socket.destroyed, { what: 'the connection closes' })
  expect(site.opened).toHaveLength(1)
})

test('a slot is held until the connection closes', async () => {
  const site = await serve({ concurrent: 2 })
  const [first] = (await Promise.all([open(site), open(site)])) as [WebSocket, WebSocket]
  expect(await opens(site)).toBe(false)
  first.terminate()
  await until(() => opens(site), { what: 'the slot is free' })
  expect(await opens(site)).toBe(false)
})

test('a refusal holds no slot, and a connection that fails frees its own', async () => {
  const site = await serve({ concurrent: 1 })
  const client = (await open(site)) as WebSocket
  for (let i = 0; i < 5; i += 1)
    expect(await opens(site)).toBe(false)
    // @ts-expect-error Not public: the connection below the WebSocket.
  ;(client._socket as Socket).resetAndDestroy()
  await until(() => opens(site), { what: 'the slot is free' })
})

test('a connection that goes on has no listener for errors but those that it had', async () => {
  const limit = rateLimit({ limit: 1, window: '1d' })
  const listeners: number[] = []
  const server = createServer().on('upgrade', async (request, socket) => {
    listeners.push(socket.listenerCount('error'))
    await limit.upgrade(request, socket, () => {
      listeners.push(socket.listenerCount('error'))
      socket.end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing.push(() => {
    limit.limiter.close()
    return new Promise((resolve) => server.close(resolve))
  })
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1')
  client.end('GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: any\r\n\r\n')
  await once(client, 'close')
  expect(listeners).toEqual([listeners[0], listeners[0]])
})

test('a function that throws: 500, and the handshake does not go on', async () => {
  const site = await serve({
    limit: 1,
    window: '1d',
    key: () => Promise.reject(new Error('wrong')),
  })
  expect(((await open(site)) as IncomingMessage).statusCode).toBe(500)
  expect(site.opened).toEqual([])
})

test('a client that resets its connection while the decision is made ends nothing but itself', async () => {
  const keys: (() => void)[] = []
  let decided = 0
  const site = await serve({
    limit: 9,
    window: '1d',
    key: () => new Promise((resolve) => keys.push(() => resolve('client'))),
    onDecision: () => {
      decided += 1
    },
  })
  const client = connect(Number(new URL(site.url).port), '127.0.0.1')
  client.on('error', () => {})
  client.write(
    'GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
  )
  await until(() => keys.length === 1, { what: 'the key is asked' })
  client.resetAndDestroy()
  await once(client, 'close')
  keys[0]?.()
  await until(() => decided === 1, { what: 'it is decided' })
  const other = open(site)
  await until(() => keys.length === 2, { what: 'the key is asked again' })
  keys[1]?.()
  expect(await other).toBeInstanceOf(WebSocket)
})
