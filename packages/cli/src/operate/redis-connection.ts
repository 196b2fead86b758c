import { messageOf } from '@sluice/terminal/say'
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
  /** ioredis only says that the connection is closed; why, its events have said. */
  let reason: string | undefined
  const redis = new Redis({
    ...options,
    lazyConnect: true,
    connectTimeout: TIMEOUT_MS,
    commandTimeout: TIMEOUT_MS,
    maxRetriesPerRequest: 0,
    retryStrategy: () => (isConnected ? RECONNECT_MS : null),
    sentinelRetryStrategy: () => (isConnected ? RECONNECT_MS : null),
    reconnectOnError: ({ message }) => message.startsWith('READONLY'),
  })
  redis.on('error', ({ message, code }: NodeJS.ErrnoException) => {
    reason = message || code || 'no connection'
  })
  try {
    await redis.connect()
    isConnected = true
    const isCluster = /^cluster_enabled:1/m.test(await redis.info('cluster'))
    if (!isCluster || options.sentinels !== undefined) return redis
  } catch (error) {
    redis.disconnect()
    throw new Error(`Redis: ${reason ?? messageOf(error)}`)
  }
  redis.disconnect()
  return connectToCluster(options)
}

async function connectToCluster(options: RedisOptions): Promise<Cluster> {
  const { host, port, ...redisOptions } = options
  const cluster = new Cluster([{ host: host as string, port: port as number }], {
    redisOptions: { ...redisOptions, connectTimeout: TIMEOUT_MS, commandTimeout: TIMEOUT_MS },
    lazyConnect: true,
  })
  // Otherwise ioredis writes errors on the terminal.
  cluster.on('error', () => {})
  await cluster.connect()
  return cluster
}
