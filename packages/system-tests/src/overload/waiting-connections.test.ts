// How connections behave while their requests wait for a limiter: HTTP/2, keep-alive, `Expect: 100-continue`, silence.

import { once } from 'node:events'
import { Agent, createServer, request, type Server } from 'node:http'
import {
  connect as connectHttp2,
  constants,
  createServer as createHttp2Server,
  type Http2Server,
} from 'node:http2'
import { type AddressInfo, connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterEach, describe, expect, jest, test } from '@jest/globals'
import { type NodeRateLimit, rateLimit } from '@sluice/node'
import { shedLoad } from '@sluice/node/overload'
import { until } from '@sluice/test-harness/redis'
import { openRaw, send } from '@sluice/test-suites/client'
import { waitersOf } from './servers.ts'

const closing: (() => unknown)[] = []
afterEach(async () => {
  jest.restoreAllMocks()
  for (const close of closing.splice(0)) await close()
})

/** What the application is asked for, and how it answers. */
let begun: string[]
let finish: (() => void)[]
let limit: NodeRateLimit

type Response = { end(body: string): unknown }

function serve({ url = '' }: { url?: string | undefined }, response: Response): void {
  begun.push(url)
  finish.push(() => response.end(url))
}

function makeLimit(): NodeRateLimit {
  begun = []
  finish = []
  limit = rateLimit({ concurrent: 1, key: () => 'all', maxWait: '1m' })
  closing.push(() => limit.limiter.close())
  return limit
}

async function listen(server: Server | Http2Server): Promise<{ host: string; port: number }> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing.push(() => void server.close())
  return { host: '127.0.0.1', port: (server.address() as AddressInfo).port }
}

async function listenHttp1(limited = makeLimit()) {
  const server = createServer((req, res) => limited(req, res, () => serve(req, res)))
  closing.push(() => server.closeAllConnections())
  return { server, target: await listen(server) }
}

const waiting = (count: number) =>
  until(() => waitersOf(limit.limiter) === count, { what: `${count} wait` })
const beginning = (count: number) =>
  until(() => begun.length === count, { what: `${count} have begun` })

describe('streams of HTTP/2', () => {
  const arrived = new Set<string>()

  async function open() {
    const limited = makeLimit()
    const server = createHttp2Server((req, res) => {
      arrived.add(req.url)
      return limited(req, res, () => serve(req, res))
    })
    const { port } = await listen(server)
    const session = connectHttp2(`http://127.0.0.1:${port}`)
    closing.push(() => session.destroy())
    const ask = (path: string) => {
      const stream = session.request({ ':path': path })
      stream.on('error', () => {})
      return stream
    }
    return { session, ask }
  }

  test('wait one by one; a stream that is reset leaves the queue', async () => {
    const { ask } = await open()
    ask('/first')
    await beginning(1)
    const reset = ask('/reset')
    await waiting(1)
    const next = ask('/next')
    await waiting(2)
    reset.close(constants.NGHTTP2_CANCEL)
    await waiting(1)
    finish[0]?.()
    await beginning(2)
    expect(begun).toEqual(['/first', '/next'])
    finish[1]?.()
    expect(await text(next)).toBe('/next')
  })

  test('all leave with their session', async () => {
    const { session, ask } = await open()
    ask('/first')
    await beginning(1)
    for (let i = 0; i < 10; i += 1) ask(`/${i}`)
    await waiting(10)
    session.destroy()
    await waiting(0)
    expect(begun).toEqual(['/first'])
  })

  test('that are reset as fast as they come leave nothing behind', async () => {
    const { ask } = await open()
    ask('/first')
    await beginning(1)
    for (let i = 0; i < 200; i += 1) ask('/').close(constants.NGHTTP2_CANCEL)
    const last = ask('/last')
    await until(() => arrived.has('/last'), { what: 'the last one has come' })
    await waiting(1)
    finish[0]?.()
    await beginning(2)
    expect(begun).toEqual(['/first', '/last'])
    finish[1]?.()
    expect(await text(last)).toBe('/last')
  })
})

test('a stream of HTTP/2 that is reset leaves the queue of shedLoad', async () => {
  // Time stands still: 20 begin before the process knows how long they take.
  jest.spyOn(performance, 'now').mockReturnValue(1000)
  begun = []
  finish = []
  let arrived = 0
  const closed = new Set<string>()
  const shed = shedLoad({ queue: { max: 2, maxWait: '1m' } })
  const server = createHttp2Server((req, res) => {
    arrived += 1
    res.once('close', () => closed.add(req.url))
    return shed(req, res, () => serve(req, res))
  })
  const { port } = await listen(server)
  const session = connectHttp2(`http://127.0.0.1:${port}`)
  closing.push(() => session.destroy())
  const ask = async (path: string, count: number) => {
    const stream = session.request({ ':path': path })
    stream.on('error', () => {})
    const status = new Promise((resolve) => {
      stream.once('response', (headers) => resolve(headers[':status']))
    })
    await until(() => arrived === count, { what: `${path} has come` })
    return { stream, status }
  }
  for (let i = 1; i <= 20; i += 1) await ask('/first', i)
  const [reset, waits] = [await ask('/reset', 21), await ask('/waits', 22)]
  expect(begun).toHaveLength(20)
  expect(await (await ask('/full', 23)).status).toBe(503)
  reset.stream.close(constants.NGHTTP2_CANCEL)
  await until(() => closed.has('/reset'), { what: 'the server knows that it is reset' })
  const next = await ask('/next', 24)
  for (let i = 0; i < 22; i += 1) {
    await until(() => finish.length > i, { what: `${i + 1} have begun` })
    finish[i]?.()
  }
  expect(await Promise.all([text(waits.stream), text(next.stream)])).toEqual(['/waits', '/next'])
  expect(begun).not.toContain('/reset')
})

test('sockets that send nothing, or half a head, wait for nothing', async () => {
  const shed = shedLoad()
  const limited = makeLimit()
  const server = createServer((req, res) =>
    shed(req, res, () => limited(req, res, () => serve(req, res))),
  )
  closing.push(() => server.closeAllConnections())
  const target = await listen(server)
  for (let i = 0; i < 300; i += 1) openRaw(target, i % 2 === 0 ? '' : 'GET / HTTP/1.1\r\nHo')
  const connections = () =>
    new Promise<number>((resolve) => server.getConnections((_error, count) => resolve(count)))
  await until(async () => (await connections()) === 300, { what: 'all are connected' })
  const first = send(target, { path: '/first' })
  await beginning(1)
  const second = send(target, { path: '/second' })
  await waiting(1)
  finish[0]?.()
  await beginning(2)
  finish[1]?.()
  expect([(await first).status, (await second).status]).toEqual([200, 200])
})

test('a connection that is kept alive serves on after a wait, and after a refusal', async () => {
  const { target } = await listenHttp1()
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  closing.push(() => agent.destroy())
  const ports = new Set<number | undefined>()
  const ask = async (path: string) => {
    const sent = request({ ...target, path, agent }).end()
    const [response] = await once(sent, 'response')
    ports.add(sent.socket?.localPort)
    return [response.statusCode, await text(response)]
  }
  void send(target, { path: '/other' })
  await beginning(1)
  const waited = ask('/waited')
  await waiting(1)
  finish[0]?.()
  await beginning(2)
  finish[1]?.()
  expect(await waited).toEqual([200, '/waited'])
  void send(target, { path: '/other' })
  await beginning(3)
  const refused = ask('/refused')
  await waiting(1)
  limit.limiter.close()
  expect((await refused)[0]).toBe(429)
  finish[2]?.()
  expect(ports.size).toBe(1)
})

test('requests that are pipelined on a connection are answered in their order', async () => {
  const { target } = await listenHttp1()
  const socket = connect(target.port, target.host)
  closing.push(() => socket.destroy())
  let received = ''
  socket.setEncoding('latin1').on('data', (chunk) => {
    received += chunk
  })
  for (let i = 1; i < 4; i += 1) socket.write(`GET /${i} HTTP/1.1\r\nHost: a\r\n\r\n`)
  for (let i = 1; i < 4; i += 1) {
    await beginning(i)
    await waiting(3 - i)
    finish[i - 1]?.()
  }
  await until(() => received.endsWith('/3'), { what: 'all are answered' })
  expect(received.match(/^\/\d/gm)).toEqual(['/1', '/2', '/3'])
})

test('Expect: 100-continue is answered when the wait is over, where the application decides it', async () => {
  const { server, target } = await listenHttp1()
  server.on('checkContinue', (req, res) =>
    limit(req, res, () => {
      res.writeContinue()
      serve(req, res)
    }),
  )
  const upload = (path: string) => {
    const head = `PUT ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n`
    const state = { received: '', socket: openRaw(target, head) }
    state.socket.setEncoding('latin1').on('data', (chunk) => {
      state.received += chunk
    })
    closing.push(() => state.socket.destroy())
    return state
  }
  void send(target, { path: '/first' })
  await beginning(1)
  const waited = upload('/waited')
  await waiting(1)
  const refused = upload('/refused')
  await waiting(2)
  expect(waited.received).toBe('')
  finish[0]?.()
  await beginning(2)
  await until(() => waited.received !== '', { what: 'it may send its body' })
  expect(waited.received).toMatch(/^HTTP\/1\.1 100 Continue\r\n/)
  limit.limiter.close()
  await until(() => refused.received !== '', { what: 'the other one is refused' })
  expect(refused.received).toMatch(/^HTTP\/1\.1 429 /)
})

describe('a server that shuts down', () => {
  test('serves those who wait', async () => {
    const { server, target } = await listenHttp1()
    const first = send(target, { path: '/first' })
    await beginning(1)
    const second = send(target, { path: '/second' })
    await waiting(1)
    const closed = once(server, 'close')
    server.close()
    finish[0]?.()
    await beginning(2)
    finish[1]?.()
    expect([(await first).status, (await second).status]).toEqual([200, 200])
    await closed
  })

  test('refuses those who wait when its limiter is closed, and serves what has begun', async () => {
    const { server, target } = await listenHttp1()
    const first = send(target, { path: '/first' })
    await beginning(1)
    const second = send(target, { path: '/second' })
    await waiting(1)
    const closed = once(server, 'close')
    server.close()
    limit.limiter.close()
    expect((await second).status).toBe(429)
    finish[0]?.()
    expect((await first).status).toBe(200)
    await closed
  })
})
