// A WebSocket echo server. Each address may open 20 connections a minute and have three open at once.
// Together they may send five messages a second, in bursts of ten.
import { createServer } from 'node:http'
import { addressKey, memoryStore, rateLimit } from '@sluice/node'
import { Redis } from 'ioredis'
import { WebSocketServer } from 'ws'

const { HOST = 'localhost', PORT = '3000', REDIS_URL } = process.env

const redis = REDIS_URL === undefined ? undefined : new Redis(REDIS_URL)
redis?.on('error', console.error)
const store = redis ?? memoryStore()
const connections = rateLimit({
  store,
  policies: [
    { name: 'handshakes', limit: 20, window: '1m' },
    { name: 'connections', concurrent: 3 },
  ],
})
const messages = rateLimit({
  store,
  prefix: 'messages',
  limit: 5,
  burst: 10,
  window: '1s',
  algorithm: 'token-bucket',
})

const server = createServer((request, response) => {
  connections(request, response, () => response.end('Connect with a WebSocket.\n'))
})
// One client must not fill the memory with one message.
const sockets = new WebSocketServer({ noServer: true, maxPayload: 64 * 1024 })

server.on('upgrade', (request, socket, head) => {
  connections.upgrade(request, socket, () => {
    sockets.handleUpgrade(request, socket, head, (client) => {
      sockets.emit('connection', client, request)
    })
  })
})

sockets.on('connection', (client, request) => {
  const key = addressKey(request.socket.remoteAddress) ?? 'unknown'
  client.on('error', (error) => console.error(error.message))
  client.on('message', async (text) => {
    // Messages that arrive faster than they are decided wait on the connection, not in memory.
    client.pause()
    const { allowed } = await messages.limiter.consume(key)
    client.resume()
    if (allowed) client.send(`You said ${text}`)
    // RFC 6455 §7.4.1: the client violates a policy.
    else client.close(1008, 'Too many messages')
  })
})

server.listen(Number(PORT), HOST, () => {
  const { port } = server.address() as { port: number }
  console.log(`http://${HOST}:${port} limits connections and messages`)
  console.log(`Try it:  npx wscat -c ws://${HOST}:${port}`)
})
