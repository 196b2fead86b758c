import { type InspectableStore, type RedisClient, redisStore } from '@sluice/core'
import { Cluster, Redis, type RedisOptions } from 'ioredis'
import { loadModule } from '../command/load-module.ts'
import { UsageError } from '../command/usage-error.ts'
import { type Health, healthOf } from './health.ts'
import { optionsOfUrl } from './redis-url.ts'

/** Where the store is. */
export interface ConnectFlags {
  /** URL. */
  readonly redis?: string | undefined
  /** A file that exports a client. */
  readonly client?: string | undefined
}

/** A store that the command has opened. */
export interface Connection {
  readonly store: InspectableStore<'async'>
  /** What the servers say of themselves. */
  health(): Promise<readonly Health[]>
  close(): void
}

/** ms. */
const TIMEOUT_MS = 5000
const RECONNECT_MS = 1000

/** @throws UsageError, or what the client says if it can't connect */
export async function connect({ redis, client: file }: ConnectFlags): Promise<Connection> {
  if (redis !== undefined && file !== undefined) {
    throw new UsageError('--redis and --client exclude each other: the client has its own address')
  }
  if (file !== undefined) return connectionOf(await clientIn(file))
  if (redis === undefined) {
    throw new UsageError(
      'say where Redis is: --redis redis://host:6379, --client file, or REDIS_URL',
    )
  }
  return connectionOf(await connectTo(optionsOfUrl(redis)))
}

/** One server, or the cluster that it belongs to. */
async function connectTo(options: RedisOptions): Promise<Redis | Cluster> {
  let isConnected = false
  const redis = quiet(
    new Redis({
      ...options,
      lazyConnect: true,
      connectTimeout: TIMEOUT_MS,
      commandTimeout: TIMEOUT_MS,
      maxRetriesPerRequest: 0,
      retryStrategy: () => (isConnected ? RECONNECT_MS : null),
      sentinelRetryStrategy: () => (isConnected ? RECONNECT_MS : null),
      reconnectOnError: ({ message }) => message.startsWith('READONLY'),
    }),
  )
  try {
    await redis.connect()
    isConnected = true
    const isCluster = /^cluster_enabled:1/m.test(await redis.info('cluster'))
    if (!isCluster || options.sentinels !== undefined) return redis
  } catch (error) {
    redis.disconnect()
    throw new Error(`Redis: ${reasonOf(redis, error)}`)
  }
  redis.disconnect()
  return connectToCluster(options)
}

async function connectToCluster(options: RedisOptions): Promise<Cluster> {
  const { host, port, ...redisOptions } = options
  const cluster = quiet(
    new Cluster([{ host: host as string, port: port as number }], {
      redisOptions: { ...redisOptions, connectTimeout: TIMEOUT_MS, commandTimeout: TIMEOUT_MS },
      lazyConnect: true,
    }),
  )
  await cluster.connect()
  return cluster
}

const reasons = new WeakMap<object, string>()

/** Keeps the last error of a connection, instead of writing it on the terminal. */
function quiet<T extends Redis | Cluster>(client: T): T {
  client.on('error', ({ message, code }: NodeJS.ErrnoException) => {
    reasons.set(client, message || code || 'no connection')
  })
  return client
}

/** ioredis only says that the connection is closed; why, its events have said. */
function reasonOf(client: object, error: unknown): string {
  return reasons.get(client) ?? (error instanceof Error ? error.message : String(error))
}

/** What node-redis and valkey-glide have besides. */
interface Owned {
  readonly isOpen?: boolean
  connect?(): Promise<unknown>
  disconnect?(): unknown
  destroy?(): unknown
  close?(): unknown
}

/** @throws UsageError, or SluiceError if it is no client */
async function clientIn(file: string): Promise<RedisClient> {
  const loaded = await loadModule('--client', file)
  const client: unknown = await (typeof loaded === 'function' ? loaded() : loaded)
  if (client === undefined || client === null) {
    throw new UsageError(`--client: expected a client of Redis as the default export of ${file}`)
  }
  const { isOpen } = client as Owned
  if (isOpen === false) await (client as Owned).connect?.()
  return client as RedisClient
}

function connectionOf(client: RedisClient): Connection {
  const store = redisStore(client)
  const owned = client as Owned
  return {
    store,
    health: () => healthOf(client),
    close() {
      const end = owned.destroy ?? owned.disconnect ?? owned.close
      void end?.call(owned)
    },
  }
}
