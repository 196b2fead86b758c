import { Cluster, Redis, type RedisOptions } from 'ioredis'
import { TIMEOUT_MS } from './connection.ts'

/** How long it waits before it connects again, ms. */
const RECONNECT_MS = 1000

/**
 * One server, or the cluster that it belongs to.
 *
 * @throws Error with what the server or the network says
 */
export async function connectToRedis(options: RedisOptions): Promise<Redis | Cluster> {
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
