// One client sends very many requests together: that is work for a store, not its failure.

import { once } from 'node:events'
import { type ClientHttp2Session, connect, type Http2Session } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { type RateLimitOptions, rateLimit } from '@sluice/fastify'
import {
  type RedisCluster,
  type RedisServer,
  startCluster,
  startRedis,
} from '@sluice/test-harness/redis'
import { fastify } from 'fastify'
import { Cluster, Redis } from 'ioredis'
import type { CompiledLimit } from '../../../core/src/algorithms/algorithm.ts'
import { algorithms } from '../../../core/src/algorithms/index.ts'
import { guarded } from '../../../core/src/stores/redis/testing/guarded.ts'
import { warningCodes } from './warning-codes.ts'

let redis: RedisServer
let cluster: RedisCluster
beforeAll(async () => {
  ;[redis, cluster] = await Promise.all([startRedis(), startCluster()])
})
afterAll(() => Promise.all([redis.stop(), cluster.stop()]))

const REQUESTS = 3000
const LIMIT = 100

/** The number of answers by status, of so many simultaneous requests on one connection. */
async function statuses(options: RateLimitOptions): Promise<Record<number, number>> {
  const app = fastify({ http2: true })
  const sessions: Http2Session[] = []
  app.server.on('session', (each: Http2Session) => sessions.push(each))
  await app.register(rateLimit, options)
  app.get('/', async () => 'ok')
  await app.listen({ port: 0, host: '127.0.0.1' })
  const session = connect(`http://127.0.0.1:${(app.server.address() as AddressInfo).port}`)
  await once(session, 'remoteSettings')
  const all = await Promise.all(Array.from({ length: REQUESTS }, () => send(session)))
  session.destroy()
  // Node's server may wait forever for a session that its client has destroyed.
  for (const each of sessions) each.destroy()
  await app.close()
  const counts: Record<number, number> = {}
  for (const status of all) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

function send(session: ClientHttp2Session): Promise<number> {
  return new Promise((resolve, reject) => {
    const stream = session.request({ ':path': '/' })
    stream.on('error', reject)
    stream.on('response', (headers) => resolve(Number(headers[':status'])))
    // Resetting so many streams would end the connection.
    stream.resume()
  })
}

/** A client with a connection to each master: connecting is not what these tests are about. */
async function connected(): Promise<Cluster> {
  const client = new Cluster(cluster.nodes.map(({ host, port }) => ({ host, port })))
  if (client.status !== 'ready') await once(client, 'ready')
  await Promise.all(client.nodes('master').map((node) => node.ping()))
  return client
}

const exactly = { 200: LIMIT, 429: REQUESTS - LIMIT }
const base = { limit: LIMIT, window: '1d' } as const

describe('3,000 simultaneous requests on one HTTP/2 connection: the limit passes, none gets a 503', () => {
  // 'deny' shows with a 503 each time that the store does not decide; no other mode shows more.
  test('with one server', async () => {
    const store = new Redis(redis.url)
    expect(await statuses({ ...base, store, onStoreError: 'deny' })).toEqual(exactly)
    expect(warningCodes).toEqual([])
    store.disconnect()
  })

  test('with a cluster', async () => {
    const store = await connected()
    expect(await statuses({ ...base, store, onStoreError: 'deny' })).toEqual(exactly)
    expect(warningCodes).toEqual([])
    store.disconnect()
  })
})

test('3,000 simultaneous requests in a cluster, each with its own key besides the address', async () => {
  const store = await connected()
  const [address, key] = [LIMIT, 10].map((limit) =>
    algorithms['sliding-log'].compile({ limit, windowMs: 3_600_000 }),
  ) as [CompiledLimit, CompiledLimit]
  const ledger = guarded(store, [address, key], 'keys')
  const results = await Promise.all(
    Array.from({ length: REQUESTS }, (_, i) =>
      ledger.consume([
        { key: 'address', limit: address, cost: 1 },
        { key: `key ${i}`, limit: key, cost: 1 },
      ]),
    ),
  )
  expect(results.filter(({ admitted }) => admitted)).toHaveLength(LIMIT)
  expect(new Set(results.map(({ source }) => source))).toEqual(new Set(['store']))
  expect(warningCodes).toEqual([])
  store.disconnect()
})
