import * as runner from '@jest/globals'
import { runnerOfOneAlgorithm } from '@sluice/test-harness/jest'
import { type RedisCluster, type RestBridge, startRest } from '@sluice/test-harness/redis'
import { type RedisConfigNodejs, Redis as Upstash } from '@upstash/redis'
import { GlideClient, GlideClusterClient, Logger } from '@valkey/valkey-glide'
import { Cluster, Redis } from 'ioredis'
import { Cluster as Cluster5, Redis as Redis5 } from 'ioredis5'
import * as iovalkey from 'iovalkey'
import * as redis6 from 'redis'
import * as redis5 from 'redis5'
import type { RedisClient } from '../../../index.ts'

// It logs each error reply, also NOSCRIPT, which is part of the protocol.
Logger.setLoggerConfig('error')

/** A client that is connected, and how its owner ends it: at the latest when the tests end. */
export interface Open {
  readonly client: RedisClient
  ping(): Promise<unknown>
  /**
   * Closes the client. Only the first call counts: ioredis answers each later one with a timer of two
   * seconds.
   */
  close(): void
}

const opened = new Set<Open>()
// Those of tests that failed: an open client would keep the process.
runner.afterAll(() => {
  for (const { close } of opened) close()
})

interface Pingable {
  ping(): Promise<unknown>
}

function openOf(client: RedisClient & Pingable, end: () => void): Open {
  const close = () => {
    if (opened.delete(open)) end()
  }
  const open = { client, ping: () => client.ping(), close }
  opened.add(open)
  return open
}

export type Connect<Where> = readonly [name: string, connect: (where: Where) => Promise<Open>]

/** A client of each package and major, of one server. */
export const everyClient: readonly Connect<string>[] = [
  ['ioredis 6', async (url) => ofIoRedis(new Redis(url))],
  ['ioredis 5', async (url) => ofIoRedis(new Redis5(url))],
  ['node-redis 6', (url) => ofNodeRedis(redis6.createClient({ url }))],
  ['node-redis 5', (url) => ofNodeRedis(redis5.createClient({ url }))],
  ['iovalkey', async (url) => ofIoRedis(new iovalkey.Redis(url))],
  ['valkey-glide 2', (url) => ofGlide(GlideClient.createClient(addressed(addressOf(url))))],
  ['@upstash/redis', (url) => ofUpstash(url)],
  [
    '@upstash/redis without automatic pipelining',
    (url) => ofUpstash(url, { enableAutoPipelining: false }),
  ],
]

/** A cluster client of each package and major. */
export const everyCluster: readonly Connect<RedisCluster>[] = [
  ['ioredis 6', async (cluster) => ofIoRedis(new Cluster(hosts(cluster)))],
  ['ioredis 5', async (cluster) => ofIoRedis(new Cluster5(hosts(cluster)))],
  ['node-redis 6', (cluster) => ofNodeRedis(redis6.createCluster({ rootNodes: urls(cluster) }))],
  ['node-redis 5', (cluster) => ofNodeRedis(redis5.createCluster({ rootNodes: urls(cluster) }))],
  ['iovalkey', async (cluster) => ofIoRedis(new iovalkey.Cluster(hosts(cluster)))],
  [
    'valkey-glide 2',
    (cluster) => ofGlide(GlideClusterClient.createClient(addressed(...hosts(cluster)))),
  ],
]

const FAMILIES = ['ioredis 6', 'node-redis 6', 'valkey-glide 2', '@upstash/redis']

/**
 * One client of each family. A store sends to those of a family in the same way, so what it decides is tested
 * on one, and that each of the others carries every operation in `clients.test.ts` and `cluster.test.ts`.
 */
export function ofEachFamily<Where>(every: readonly Connect<Where>[]): readonly Connect<Where>[] {
  return every.filter(([name]) => FAMILIES.includes(name))
}

/** The whole suite of stores for the first family, and one algorithm for others: a client does not see which it is. */
export const runnerFor = (name: string) => (name === FAMILIES[0] ? runner : runnerOfOneAlgorithm)

const hosts = ({ nodes }: RedisCluster) => nodes.map(({ host, port }) => ({ host, port }))
const urls = ({ nodes }: RedisCluster) => nodes.map(({ url }) => ({ url }))

/** The methods of ioredis' clients and clusters that the tests use. */
interface IoRedis extends Pingable {
  disconnect(): void
}

export function ofIoRedis(client: RedisClient & IoRedis): Open {
  return openOf(client, () => client.disconnect())
}

/** The methods of node-redis' clients and clusters that the tests use. */
export interface NodeRedis extends Pingable {
  on(event: 'error', listener: () => void): unknown
  connect(): Promise<unknown>
  readonly isOpen: boolean
  destroy(): unknown
}

export async function ofNodeRedis(client: RedisClient & NodeRedis): Promise<Open> {
  const open = openOf(client, () => {
    if (client.isOpen) client.destroy()
  })
  client.on('error', () => {})
  await client.connect()
  return open
}

/** The options of valkey-glide; its own limit of 250 ms is too short for a busy machine. */
export function addressed(...addresses: { host: string; port: number }[]) {
  return { addresses, requestTimeout: 30_000 }
}

export function addressOf(url: string): { host: string; port: number } {
  const { hostname, port } = new URL(url)
  return { host: hostname, port: Number(port) }
}

/** `GlideClient` and `GlideClusterClient` connect before they are there. */
export async function ofGlide(
  connecting: Promise<GlideClient | GlideClusterClient>,
): Promise<Open> {
  const client = await connecting
  return openOf(client, () => client.close())
}

type UpstashOptions = Partial<RedisConfigNodejs>

/** A client of a bridge. It repeats nothing, as the documentation recommends. */
export function upstashOf({ url, token }: RestBridge, options: UpstashOptions = {}): Upstash {
  const quiet = { enableTelemetry: false, retry: { retries: 0 } }
  return new Upstash({ url, token, ...quiet, ...options })
}

/** A client over HTTP, through a bridge of its own. */
export async function ofUpstash(url: string, options?: UpstashOptions): Promise<Open> {
  const rest = await startRest(url)
  return openOf(upstashOf(rest, options), () => void rest.close())
}
