// What several processes see of blocked networks, in a real Redis and a real cluster.

import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals'
import {
  patient,
  type RedisCluster,
  type RedisProxy,
  type RedisServer,
  startCluster,
  startProxy,
  startRedis,
  until,
} from '@sluice/test-harness/redis'
import { Cluster, Redis } from 'ioredis'
import {
  createLimiter,
  type Documents,
  type Limiter,
  type RedisClient,
  redisStore,
} from '../../index.ts'
import { MAX_NETWORKS } from '../networks/network-text.ts'

const network = { network: true } as const
const clients: (Redis | Cluster)[] = []
const limiters: Limiter<'async'>[] = []
afterEach(() => {
  for (const limiter of limiters.splice(0)) limiter.close()
})
const disconnect = () => {
  for (const client of clients.splice(0)) client.disconnect()
}

/** A limiter of a process of its own: what a store knows of its networks belongs to it alone. */
function limiterOn(client: RedisClient): Limiter<'async'> {
  const limiter = createLimiter({
    ...patient,
    store: redisStore(client),
    limit: 1_000_000,
    window: '1h',
  })
  limiters.push(limiter)
  return limiter
}

const isAllowed = async (limiter: Limiter<'async'>, key: string) =>
  (await limiter.consume(key)).allowed

const becomes = (limiter: Limiter<'async'>, key: string, allowed: boolean) =>
  until(async () => (await isAllowed(limiter, key)) === allowed, { what: `${key} is ${allowed}` })

/** A text of so many networks, as it is kept. */
function many(count: number, version: string): string {
  const line = (_: unknown, i: number) => `\n10.${i >> 8}.${i & 255}.0/24 ${Date.now() + 3_600_000}`
  return version.repeat(16) + Array.from({ length: count }, line).join('')
}

describe('on one Redis', () => {
  let redis: RedisServer
  let proxy: RedisProxy
  let client: Redis
  beforeAll(async () => {
    redis = await startRedis()
    proxy = await startProxy(redis)
    client = new Redis(redis.port, redis.host)
    clients.push(client)
  })
  afterAll(async () => {
    disconnect()
    await proxy.stop()
    await redis.stop()
  })
  afterEach(() => redis.command('FLUSHALL'))

  test('every process refuses it, and serves it again when the block has ended', async () => {
    const [one, other] = [limiterOn(client), limiterOn(client)] as const
    await isAllowed(other, '203.0.113.7')
    await one.block('203.0.113.0/24', '1h', network)
    expect(await isAllowed(one, '203.0.113.7')).toBe(false)
    await becomes(other, '203.0.113.7', false)
    expect(await isAllowed(other, '203.0.114.7')).toBe(true)
    const ttl = Number(await redis.command('PTTL', 'sluice:{#}:networks'))
    expect(ttl).toBeGreaterThan(3_500_000)
    expect(ttl).toBeLessThanOrEqual(3_600_000)
    await other.reset('203.0.113.0/24', network)
    await becomes(one, '203.0.113.7', true)
    expect(await redis.command('EXISTS', 'sluice:{#}:networks')).toBe(0)
  })

  test('a list stays while a given clock stands still', async () => {
    const store = redisStore(client, { clock: () => 1_800_000_000_000 })
    await (store.documents as Documents<'async'>).replace(
      'sluice',
      'networks',
      '',
      'a'.repeat(16),
      1000,
    )
    expect(Number(await redis.command('PTTL', 'sluice:{#}:networks'))).toBeGreaterThan(3_500_000)
  })

  test('a list that has not changed costs a few bytes, also if it is as long as can be', async () => {
    const proxied = new Redis(proxy.port, proxy.host)
    clients.push(proxied)
    const documents = redisStore(proxied).documents as Documents<'async'>
    await documents.replace('sluice', 'networks', '', many(MAX_NETWORKS, 'a'), 3_600_000)
    const bytes = async (known: string) => {
      const before = proxy.counts.replyBytes
      const { text } = await documents.read('sluice', 'networks', known)
      return { text, bytes: proxy.counts.replyBytes - before }
    }
    await bytes('')
    expect((await bytes('')).text).toHaveLength(many(MAX_NETWORKS, 'a').length)
    const unchanged = await bytes('a'.repeat(16))
    expect(unchanged.text).toBeUndefined()
    expect(unchanged.bytes).toBeLessThan(50)
  })

  test('of a text of 10 MB that somebody has written, a part is read, once', async () => {
    const proxied = new Redis(proxy.port, proxy.host)
    clients.push(proxied)
    const store = redisStore(proxied)
    const { read } = store.documents as Documents<'async'>
    await client.set('sluice:{#}:policies', `${'b'.repeat(16)}\n${'x'.repeat(1e7)}`)
    await read('sluice', 'policies', 'a'.repeat(16))
    const before = proxy.counts.replyBytes
    const { text = '' } = await read('sluice', 'policies', '')
    expect(text.slice(0, 18)).toBe(`${'b'.repeat(16)}\nx`)
    expect(proxy.counts.replyBytes - before).toBeLessThan(700_000)
    expect((await read('sluice', 'policies', text.slice(0, 16))).text).toBeUndefined()
    expect(proxy.counts.replyBytes - before).toBeLessThan(700_100)
  })

  test('two processes that block at the same time both succeed', async () => {
    const both = [limiterOn(client), limiterOn(client)]
    const hosts = Array.from({ length: 20 }, (_, i) => `203.0.${i}`)
    await Promise.all(hosts.map((host, i) => both[i % 2]?.block(`${host}.0/24`, '1h', network)))
    const third = limiterOn(client)
    await becomes(third, '203.0.0.1', false)
    for (const host of hosts) expect(await isAllowed(third, `${host}.1`)).toBe(false)
  })

  test('10,000 are the most, and one more is an error', async () => {
    await client.set('sluice:{#}:networks', many(MAX_NETWORKS, 'a'), 'EX', 3600)
    const limiter = limiterOn(client)
    await expect(limiter.block('203.0.113.0/24', '1h', network)).rejects.toMatchObject({
      code: 'SLUICE_NETWORKS_FULL',
    })
    await becomes(limiter, '10.39.15.1', false)
    expect(await isAllowed(limiter, '10.39.16.1')).toBe(true)
  })
})

describe('in a cluster', () => {
  let cluster: RedisCluster
  beforeAll(async () => {
    cluster = await startCluster()
  })
  afterAll(async () => {
    disconnect()
    await cluster.stop()
  })

  test('every process refuses it, on whichever node its keys are', async () => {
    const nodes = cluster.nodes.map(({ host, port }) => ({ host, port }))
    const stores = [new Cluster(nodes), new Cluster(nodes)]
    clients.push(...stores)
    const [one, other] = stores.map((each) => limiterOn(each)) as [
      Limiter<'async'>,
      Limiter<'async'>,
    ]
    await one.block('203.0.113.0/24', '1h', network)
    for (const host of [1, 2, 3, 4]) await becomes(other, `203.0.113.${host}`, false)
    await other.reset('203.0.113.0/24', network)
    await becomes(one, '203.0.113.1', true)
  })
})
