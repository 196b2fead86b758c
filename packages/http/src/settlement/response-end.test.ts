import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { type Limiter, type MemoryStore, memoryStore } from '@sluice/core'
import { type ManualClock, manualClock } from '@sluice/core/testing'
import { type PlainOptions, type PlainServer, servePlain } from '../testing/plain-server.ts'

type Handler = (request: IncomingMessage, response: ServerResponse) => void

const GET = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'

let clock: ManualClock
let store: MemoryStore
let server: PlainServer
let sockets: Socket[]
/** Responses that the application works on: it has not ended them. */
let running: ServerResponse[]

beforeEach(() => {
  clock = manualClock()
  store = memoryStore({ clock })
  sockets = []
  running = []
})
afterEach(async () => {
  for (const socket of sockets) socket.destroy()
  await server.stop()
  store.close()
})

async function serve(options: object = {}, handle: Handler = (_, each) => running.push(each)) {
  server = await servePlain([{ store, concurrent: 3, ...options } as PlainOptions], handle)
}

const limiter = () => server.httpLimiters[0]?.base.limiter as Limiter<'sync'>
const free = () => limiter().peek('127.0.0.1').policies[0]?.remaining

/** Sends bytes on a connection of its own, and waits for none. */
function raw(bytes: string): Socket {
  const socket = connect(server.port, '127.0.0.1', () => socket.write(bytes))
  socket.on('error', () => {})
  sockets.push(socket)
  return socket
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise(setImmediate)
}

async function turns(): Promise<void> {
  for (let i = 0; i < 20; i += 1) await new Promise(setImmediate)
}

test('so many requests are in progress, and the fields say it without a time', async () => {
  await serve()
  const pending = [server.send(), server.send(), server.send()]
  await until(() => running.length === 3)
  const refused = await server.send()
  expect(refused.status).toBe(429)
  expect(refused.headers).toMatchObject({
    'ratelimit-policy': '"default";q=3;qu="concurrent-requests"',
    ratelimit: '"default";r=0',
    'retry-after': '1',
  })
  for (const each of running) each.end('done')
  const [first] = await Promise.all(pending)
  expect(first?.headers.ratelimit).toBe('"default";r=2')
  expect(free()).toBe(3)
})

describe('a client that leaves', () => {
  test('frees nothing while the application works for it', async () => {
    await serve()
    for (let i = 0; i < 9; i += 1) {
      const socket = raw(GET)
      let isRefused = false
      socket.once('data', () => {
        isRefused = true
      })
      await until(() => isRefused || running.length === i + 1)
      socket.destroy()
    }
    await turns()
    expect([running.length, free()]).toEqual([3, 0])
    running[0]?.end()
    expect(free()).toBe(1)
  })

  test('frees its slot after hold if the application never ends the response', async () => {
    await serve()
    const gone = raw(GET)
    await until(() => running.length === 1)
    raw(GET)
    await until(() => running.length === 2)
    const left = once(running[0] as ServerResponse, 'close')
    gone.destroy()
    await left
    clock.advance(29_999)
    expect(free()).toBe(1)
    clock.advance(1)
    expect(free()).toBe(3)
    running[0]?.end()
    expect(free()).toBe(3)
  })

  test('in the middle of the body frees it once the application has noticed', async () => {
    await serve({}, (_, response) => {
      running.push(response)
      response.write('first part')
    })
    const socket = raw(GET)
    await once(socket, 'data')
    socket.destroy()
    await until(() => running[0]?.closed === true)
    expect(free()).toBe(2)
    running[0]?.end()
    expect(free()).toBe(3)
  })
})

test('a client that reads nothing holds no slot once the application has ended the response', async () => {
  await serve({}, (_, response) => {
    running.push(response)
    response.end(Buffer.alloc(20_000_000))
  })
  raw(GET).pause()
  await until(() => running.length === 1)
  expect([running[0]?.writableFinished, free()]).toEqual([false, 3])
})

test('connections that send nothing, or half a head, hold no slot', async () => {
  await serve()
  for (let i = 0; i < 10; i += 1) raw(i % 2 === 0 ? '' : 'GET / HTTP/1.1\r\nHost:')
  await turns()
  expect(free()).toBe(3)
})

test('pipelined requests hold a slot each, until their response can be sent', async () => {
  await serve()
  raw(GET.repeat(5))
  await until(() => running.length === 3)
  await turns()
  expect([running.length, free()]).toEqual([3, 0])
  running[1]?.end('second')
  await turns()
  expect(free()).toBe(0)
  running[0]?.end('first')
  await until(() => free() === 2)
})

test('what another policy refuses takes no slot', async () => {
  const policies = [
    { name: 'in-flight', concurrent: 3 },
    { name: 'rate', limit: 1, window: '1d' },
  ]
  await serve({ concurrent: undefined, policies }, (_, response) => response.end())
  expect((await server.send()).status).toBe(200)
  for (let i = 0; i < 4; i += 1) expect((await server.send()).status).toBe(429)
  expect(free()).toBe(3)
})

test('a request that finds no place to wait in gives its slot back, as does one that leaves', async () => {
  const policies = [
    { name: 'in-flight', concurrent: 3 },
    { name: 'queue', limit: 1, window: '1h', algorithm: 'leaky-bucket', maxDelay: '5h' },
  ]
  await serve({ concurrent: undefined, policies, maxWaiting: 1 })
  const first = server.send()
  await until(() => running.length === 1)
  const waiting = raw(GET)
  await until(() => free() === 1)
  expect((await server.send()).status).toBe(429)
  expect(free()).toBe(1)
  waiting.destroy()
  await until(() => free() === 2)
  running[0]?.end()
  await first
  expect(free()).toBe(3)
})

test('a dry run refuses nobody, and counts what it would have admitted', async () => {
  await serve({ dryRun: true })
  const pending = Array.from({ length: 5 }, () => server.send())
  await until(() => running.length === 5)
  expect(free()).toBe(0)
  for (const each of running) each.end()
  await Promise.all(pending)
  expect(free()).toBe(3)
})

test('concurrent may be a function of the request, and a route may have its own', async () => {
  const concurrent = async ({ method }: IncomingMessage) => (method === 'POST' ? 2 : 1)
  const routes = { '/rate': { limit: 1, window: '1d' }, '/slots': { concurrent: 1, hold: '5s' } }
  await serve({ concurrent, routes })
  const pending = [server.send('POST'), server.send('POST')]
  await until(() => running.length === 2)
  expect((await server.send('POST')).headers.ratelimit).toBe('"default";r=0')
  expect((await server.send('GET')).headers['ratelimit-policy']).toMatch('q=1;')
  pending.push(server.send('GET', '/rate'), server.send('GET', '/slots'))
  await until(() => running.length === 4)
  expect((await server.send('GET', '/rate')).headers['ratelimit-policy']).toMatch('w=86400')
  expect((await server.send('GET', '/slots')).headers.ratelimit).toBe('"default";r=0')
  for (const each of running) each.end()
  await Promise.all(pending)
})

test.each(['cost', 'settle'])('%s beside concurrent contradicts it', async (option) => {
  const value = option === 'cost' ? 2 : () => 2
  await expect(serve({ [option]: value })).rejects.toMatchObject({ option })
  await serve()
})
