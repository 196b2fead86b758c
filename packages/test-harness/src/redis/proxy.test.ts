import { once } from 'node:events'
import { connect } from 'node:net'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { Redis } from 'ioredis'
import { type RedisProxy, startProxy } from './proxy.ts'
import { type RedisServer, startRedis } from './server.ts'
import { until } from './until.ts'

let redis: RedisServer
let proxy: RedisProxy
const clients: Redis[] = []

beforeAll(async () => {
  redis = await startRedis()
})
afterAll(() => redis.stop())

beforeEach(async () => {
  await redis.command('FLUSHALL')
  proxy = await startProxy(redis)
})
afterEach(async () => {
  for (const client of clients.splice(0)) client.disconnect()
  await proxy.stop()
})

/** A client that connects once, and never sends a command again. */
async function connected(): Promise<Redis> {
  const client = new Redis(proxy.port, proxy.host, {
    lazyConnect: true,
    retryStrategy: () => null,
    maxRetriesPerRequest: 0,
    disconnectTimeout: 0,
  })
  client.on('error', () => {})
  clients.push(client)
  await client.connect()
  return client
}

/** Whether a reply has come yet. */
function watch(reply: Promise<unknown>) {
  const seen = { settled: false }
  const settle = () => {
    seen.settled = true
  }
  reply.then(settle, settle)
  return seen
}

test('passes on all that is said, and counts it', async () => {
  const client = await connected()
  const value = 'x'.repeat(1_000_000)
  await client.set('key', value)
  const before = { ...proxy.counts }
  expect(await client.get('key')).toBe(value)
  expect(before.requestBytes).toBeGreaterThan(1_000_000)
  expect(proxy.counts.requestBytes - before.requestBytes).toBe('*2|$3|get|$3|key|'.length + 5)
  expect(proxy.counts.replyBytes - before.replyBytes).toBe('$1000000||'.length + 2 + 1_000_000)
  expect(proxy.counts.requestChunks - before.requestChunks).toBe(1)
  expect(proxy.counts.replyChunks).toBeGreaterThan(before.replyChunks)
  expect(proxy.counts.connections).toBe(1)
})

test('replies come late by the latency, in order, however many', async () => {
  const client = await connected()
  proxy.latency(20)
  const areInTime = async () => {
    const times: number[] = []
    const replies: Promise<string>[] = []
    for (let i = 0; i < 3_000; i++) {
      const sent = performance.now()
      const reply = client.echo(String(i))
      reply.then(() => times.push(performance.now() - sent))
      replies.push(reply)
      if (i % 3 === 0) await new Promise(setImmediate)
    }
    expect(await Promise.all(replies)).toEqual(replies.map((_, index) => String(index)))
    times.sort((a, b) => a - b)
    expect(times[0]).toBeGreaterThan(19)
    return times[1_500]! < 40
  }
  await until(areInTime, { what: 'half of the replies of a round come within 40 ms' })
})

test('the latency of a chunk may come from a function', async () => {
  const client = await connected()
  const delays: number[] = []
  proxy.latency(() => delays.shift() ?? 0)
  const timed = async () => {
    const sent = performance.now()
    await client.ping()
    return performance.now() - sent
  }
  const onlyTheSecondIsLate = async () => {
    delays.push(0, 60)
    const [first, second, third] = [await timed(), await timed(), await timed()]
    expect(second).toBeGreaterThan(59)
    return first < 59 && third < 59
  }
  await until(onlyTheSecondIsLate, { what: 'of three replies only the second is late' })
})

test('a black hole takes requests, with sockets open, and what it took never comes', async () => {
  const client = await connected()
  proxy.blackhole()
  const { requestBytes } = proxy.counts
  const reply = watch(client.set('key', 'value'))
  await until(() => proxy.counts.requestBytes > requestBytes, { what: 'it was sent' })
  const newcomer = connect(proxy.port, proxy.host)
  await once(newcomer, 'connect')
  newcomer.destroy()

  proxy.blackhole(false)
  const later = watch(client.set('key', 'later'))
  expect(await (await connected()).ping()).toBe('PONG')
  expect([reply.settled, later.settled, client.status]).toEqual([false, false, 'ready'])
  expect(await redis.command('EXISTS', 'key')).toBe(0)
})

test('a black hole hides the death of the server', async () => {
  const server = await startRedis()
  proxy.retarget(server.port)
  const client = await connected()
  proxy.blackhole()
  await server.stop()
  proxy.retarget(redis.port)
  proxy.blackhole(false)
  expect(await (await connected()).ping()).toBe('PONG')
  expect(client.status).toBe('ready')
})

test('a lost reply belongs to a request that was executed, until the connection is cut', async () => {
  const client = await connected()
  proxy.loseReplies()
  const { replyBytes } = proxy.counts
  const reply = client.incr('key')
  const seen = watch(reply)
  await until(() => proxy.counts.replyBytes > replyBytes, { what: 'it was executed' })
  expect(await redis.command('GET', 'key')).toBe('1')
  expect([seen.settled, client.status]).toEqual([false, 'ready'])
  proxy.cut()
  await expect(reply).rejects.toThrow()
  proxy.loseReplies(false)
  expect(await (await connected()).incr('key')).toBe(2)
})

test('a fault that ends leaves the others', async () => {
  const client = await connected()
  proxy.loseReplies()
  proxy.blackhole()
  proxy.blackhole(false)
  const { replyBytes } = proxy.counts
  const seen = watch(client.incr('key'))
  await until(() => proxy.counts.replyBytes > replyBytes, { what: 'it was executed' })
  expect(seen.settled).toBe(false)
})

test('refuses new connections only, and as long as asked', async () => {
  const client = await connected()
  proxy.refuse()
  await expect(connected()).rejects.toThrow()
  expect(await client.ping()).toBe('PONG')
  expect(proxy.counts.connections).toBe(1)
  proxy.refuse(false)
  expect(await (await connected()).ping()).toBe('PONG')
})

test('cut ends every present connection', async () => {
  const two = [await connected(), await connected()]
  proxy.cut()
  const ended = () => two.every((client) => client.status === 'end')
  await until(ended, { what: 'both clients know' })
  expect(await (await connected()).ping()).toBe('PONG')
})

test('leads later connections elsewhere', async () => {
  const other = await startRedis()
  await other.command('SET', 'name', 'other')
  const before = await connected()
  proxy.retarget(other.port)
  const after = await connected()
  expect([await before.get('name'), await after.get('name')]).toEqual([null, 'other'])
  await other.stop()
})

test('the end of the server is the end of its connections, and until it is back they fail', async () => {
  const server = await startRedis()
  proxy.retarget(server.port)
  const client = await connected()
  await server.kill()
  await until(() => client.status === 'end', { what: 'the client knows' })
  await expect(connected()).rejects.toThrow()
  await server.restart()
  expect(await (await connected()).ping()).toBe('PONG')
  await server.stop()
})

test('the server sees a client go', async () => {
  const client = await connected()
  const clientsOfRedis = async () => (await redis.info('clients')).connected_clients
  expect(await clientsOfRedis()).toBe('2')
  client.disconnect()
  await until(async () => (await clientsOfRedis()) === '1', { what: 'Redis knows' })
})

test('stopped it has no connection and no port, whatever still waited', async () => {
  const client = await connected()
  proxy.latency(60_000)
  const reply = client.ping()
  reply.catch(() => {})
  await proxy.stop()
  await expect(reply).rejects.toThrow()
  await expect(connected()).rejects.toThrow()
})
