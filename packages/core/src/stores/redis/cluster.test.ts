// A Redis Cluster: all that belongs to one client is decided in one slot.

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { patient, type RedisCluster, startCluster, until } from '@sluice/test-harness/redis'
import {
  Decoder,
  GlideClusterClient,
  type GlideClusterClientConfiguration,
  ProtocolVersion,
} from '@valkey/valkey-glide'
import fc from 'fast-check'
import { Cluster, type ClusterOptions } from 'ioredis'
import { Cluster as Cluster5 } from 'ioredis5'
import * as iovalkey from 'iovalkey'
import * as redis6 from 'redis'
import * as redis5 from 'redis5'
import { createLimiter, type RedisClient, redisStore } from '../../index.ts'
import { hashSlotOf } from './hash-slots.ts'
import { picture } from './testing/clients.ts'
import { codePoint } from './testing/code-point.ts'
import {
  addressed,
  type NodeRedis,
  type Open,
  ofGlide,
  ofIoRedis,
  ofNodeRedis,
} from './testing/every-client.ts'
import { expectAllToExpire, expiries, isOfTerms } from './testing/ttl.ts'

const policies = [
  { name: 'burst', limit: 5, window: '1d', algorithm: 'token-bucket' },
  { name: 'a {curly} name', limit: 10, window: '1d', algorithm: 'sliding-log' },
  { name: 'day', limit: 1000, window: '1d' },
] as const

let cluster: RedisCluster
beforeAll(async () => {
  cluster = await startCluster()
})
afterAll(async () => {
  const left = await Promise.all(cluster.nodes.map((node) => expiries(node)))
  await cluster.stop()
  for (const each of left) expectAllToExpire(each)
})

function onEveryNode(name: string, ...args: string[]): Promise<unknown[]> {
  return Promise.all(cluster.nodes.map((node) => node.command(name, ...args)))
}

async function keysOf(prefix: string): Promise<string[]> {
  const keys = await onEveryNode('KEYS', `${prefix}:*`)
  return (keys.flat() as string[]).filter((key) => !isOfTerms(key))
}

async function evalshaCalls(): Promise<number> {
  const stats = await Promise.all(cluster.nodes.map((node) => node.commandStats()))
  return stats.reduce((sum, { evalsha }) => sum + (evalsha?.calls ?? 0), 0)
}

const options: Record<string, ClusterOptions> = {
  'as it is': {},
  'with automatic pipelining': { enableAutoPipelining: true },
  'with a keyPrefix': { keyPrefix: 'app:' },
  'with reads from replicas': { scaleReads: 'slave' },
}
const nodes = () => cluster.nodes.map(({ host, port }) => ({ host, port }))
const rootNodes = () => cluster.nodes.map(({ url }) => ({ url }))

const nodeRedisWays: Record<string, () => RedisClient & NodeRedis> = {
  'node-redis 6 as it is': () => redis6.createCluster({ rootNodes: rootNodes() }),
  'node-redis 6 with RESP2': () => redis6.createCluster({ rootNodes: rootNodes(), RESP: 2 }),
  'node-redis 6 with a keyPrefix': () =>
    redis6.createCluster({ rootNodes: rootNodes(), keyPrefix: 'app:' }),
  'node-redis 6 with reads from replicas': () =>
    redis6.createCluster({ rootNodes: rootNodes(), useReplicas: true }),
  'node-redis 5 as it is': () => redis5.createCluster({ rootNodes: rootNodes() }),
  'node-redis 5 with reads from replicas': () =>
    redis5.createCluster({ rootNodes: rootNodes(), useReplicas: true }),
}
const glideWays: Record<string, Partial<GlideClusterClientConfiguration>> = {
  'valkey-glide 2 as it is': {},
  'valkey-glide 2 with RESP2': { protocol: ProtocolVersion.RESP2 },
  'valkey-glide 2 with texts as buffers': { defaultDecoder: Decoder.Bytes },
  'valkey-glide 2 with reads from replicas': { readFrom: 'preferReplica' },
}
const clients: (readonly [string, () => Promise<Open>])[] = [
  ...Object.entries(options).flatMap(([way, each]) => [
    [`ioredis 6 ${way}`, async () => ofIoRedis(new Cluster(nodes(), each))] as const,
    [`ioredis 5 ${way}`, async () => ofIoRedis(new Cluster5(nodes(), each as never))] as const,
  ]),
  // With automatic pipelining its clusters, as those of ioredis before 5.11, mix slots in a pipeline.
  ...Object.entries(options)
    .filter(([, { enableAutoPipelining }]) => !enableAutoPipelining)
    .map(
      ([way, each]) =>
        [
          `iovalkey ${way}`,
          async () => ofIoRedis(new iovalkey.Cluster(nodes(), each as never)),
        ] as const,
    ),
  ...Object.entries(nodeRedisWays).map(
    ([way, create]) => [way, () => ofNodeRedis(create())] as const,
  ),
  ...Object.entries(glideWays).map(
    ([way, each]) =>
      [
        way,
        () => ofGlide(GlideClusterClient.createClient({ ...addressed(...nodes()), ...each })),
      ] as const,
  ),
]

describe.each(clients)('a cluster client of %s', (name, connect) => {
  test('decides the policies of each client together, and stays as it is', async () => {
    const { client, ping, close } = await connect()
    await ping()
    const before = picture(client)
    const prefix = name.replace(/\W/g, '-')
    const limiter = createLimiter({ ...patient, store: client, policies, prefix })
    const ids = Array.from({ length: 20 }, (_, i) => `client ${i}`)
    const all = ids.flatMap((id) => Array.from({ length: 8 }, () => limiter.consume(id)))
    expect((await Promise.all(all)).filter(({ allowed }) => allowed)).toHaveLength(5 * 20)
    await onEveryNode('SCRIPT', 'FLUSH')
    for (const id of ids) {
      const left = (await limiter.peek(id)).policies.map(({ remaining }) => remaining)
      expect(left).toEqual([0, 5, 995])
    }
    await limiter.settle('client 0', -5)
    await limiter.block('client 1', '1h')
    await limiter.reset('client 2')
    const found = new Set<string>()
    for await (const { key } of redisStore(client).inspect({ prefix })) found.add(key)
    // Not the client that has given everything back, and the one that was reset.
    expect(found.size).toBe(18)
    limiter.close()
    expect(String(await ping())).toBe('PONG')
    expect(picture(client)).toEqual(before)
    close()
  })
})

describe('with one Cluster', () => {
  let client: Cluster
  beforeAll(() => {
    client = new Cluster(nodes())
  })
  afterAll(() => client.disconnect())

  test('requests of one turn and one client share an EVALSHA', async () => {
    // Which networks are blocked is read apart, and which keyspaces there are is kept apart.
    const store = { ...redisStore(client), documents: undefined }
    const limiter = createLimiter({ ...patient, store, policies, prefix: 'turn' })
    const ids = Array.from({ length: 30 }, (_, i) => `client ${i}`)
    await Promise.all(ids.map((id) => limiter.consume(id)))
    const kept = async () => (await onEveryNode('KEYS', 'turn:{#}:*')).flat()
    await until(async () => (await kept()).length === 1, { what: 'they are kept' })
    await onEveryNode('CONFIG', 'RESETSTAT')
    await Promise.all(ids.flatMap((id) => [1, 2, 3].map(() => limiter.consume(id))))
    expect(await evalshaCalls()).toBe(30)
  })

  test('whatever the id holds, its keys are in one slot and are nobody else’s', async () => {
    const limiter = createLimiter({ ...patient, store: client, policies, prefix: 'odd' })
    const odd = fc.oneof(
      fc.string({ unit: codePoint, minLength: 1 }),
      fc.string({
        unit: fc.constantFrom('{', '}', ':', '#', 'a', '\0', ' ', '\ud800'),
        minLength: 1,
      }),
      fc.constantFrom('__proto__', 'toString', '😀', 'x'.repeat(70), 'x'.repeat(71)),
    )
    const ids = [...new Set(fc.sample(odd, { numRuns: 300, seed: 20_261_120 }))]
    const decisions = await Promise.all(ids.map((id) => limiter.consume(id)))
    expect(decisions.every(({ remaining }) => remaining === 4)).toBe(true)

    const keys = await keysOf('odd')
    expect(keys).toHaveLength(3 * ids.length)
    const slotsOfKeys = await Promise.all(keys.map((key) => client.cluster('KEYSLOT', key)))
    const slots = new Map<string, Set<unknown>>()
    keys.forEach((key, i) => {
      expect(key.length).toBeLessThan(160)
      // With the shard that an id may begin with.
      const [subject = ''] = /^[^{]*(?:\{[^}]*\}){1,2}/.exec(key) ?? []
      slots.set(subject, (slots.get(subject) ?? new Set()).add(slotsOfKeys[i]))
    })
    expect(slots.size).toBe(ids.length)
    expect([...slots.values()].every((each) => each.size === 1)).toBe(true)
    expect(keys.map(hashSlotOf)).toEqual(slotsOfKeys)

    let shown = 0
    for await (const _ of redisStore(client).inspect({ prefix: 'odd' })) shown += 1
    expect(shown).toBe(keys.length)
  })

  test('the slot of a key is the one that the cluster says', async () => {
    const odd = fc.string({ unit: fc.constantFrom('{', '}', 'a', 'b', '~', ' '), maxLength: 12 })
    const keys = fc.sample(odd, { numRuns: 500, seed: 20_261_122 })
    const said = await Promise.all(keys.map((key) => client.cluster('KEYSLOT', key)))
    expect(keys.map(hashSlotOf)).toEqual(said)
  })
})
