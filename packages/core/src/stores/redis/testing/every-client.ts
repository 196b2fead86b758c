import { afterAll } from '@jest/globals'
import type { RedisCluster } from '@sluice/test-harness/redis'
import { GlideClient, GlideClusterClient } from '@valkey/valkey-glide'
import { Cluster, Redis } from 'ioredis'
import { Cluster as Cluster5, Redis as Redis5 } from 'ioredis5'
import * as iovalkey from 'iovalkey'
import * as redis6 from 'redis'
import * as redis5 from 'redis5'
import type { RedisClient } from '../../../index.ts'

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
afterAll(() => {
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

/** Whether a client of `everyCluster` stands for its family: the other forms share its ways to send. */
export const isFirstOfFamily = (name: string) =>
  ['ioredis 6', 'node-redis 6', 'valkey-glide 2'].includes(name)

const hosts = ({ nodes }: RedisCluster) => nodes.map(({ host, port }) => ({ host, port }))
const urls = ({ nodes }: RedisCluster) => nodes.map(({ url }) => ({ url }))

/** What of ioredis' clients and clusters the tests need. */
interface IoRedis extends Pingable {
  disconnect(): void
}

export function ofIoRedis(client: RedisClient & IoRedis): Open {
  return openOf(client, () => client.disconnect())
}

/** What of node-redis' clients and clusters the tests need. */
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
