import { SluiceError } from '../../errors/sluice-error.ts'

/** What is used of an ioredis client, 5 or 6: a `Redis` or a `Cluster`. */
export interface IoRedisClient {
  evalsha(sha: string, keyCount: number, ...keysAndArguments: string[]): Promise<unknown>
  eval(script: string, keyCount: number, ...keysAndArguments: string[]): Promise<unknown>
  /** What only clients have: no pipeline or transaction, and none of another make. */
  readonly status: string
  /** True for a cluster, in which the keys of one call must share a slot. */
  readonly isCluster?: boolean
}

/**
 * What is used of a node-redis client, 5 or 6: what `createClient`, `createCluster`,
 * `createClientPool` or `createSentinel` returns, connected by its owner.
 */
export interface NodeRedisClient {
  evalSha(sha: string, input: { keys: string[]; arguments: string[] }): Promise<unknown>
  eval(script: string, input: { keys: string[]; arguments: string[] }): Promise<unknown>
  readonly isOpen: boolean
  /** A method that only clusters have. */
  readonly nodeClient?: unknown
}

/** A client of Redis, handed over as it is. */
export type RedisClient = IoRedisClient | NodeRedisClient

export function isRedisClient(value: unknown): value is RedisClient {
  const client = value as Partial<IoRedisClient & NodeRedisClient> | null | undefined
  if (typeof client?.eval !== 'function') return false
  // Pipelines have none of it, nor has @upstash/redis, whose `evalsha` takes other arguments.
  const isIoRedis = typeof client.evalsha === 'function' && typeof client.status === 'string'
  // node-redis' callback interface (`legacy()`) has no `isOpen`.
  const isNodeRedis = typeof client.evalSha === 'function' && typeof client.isOpen === 'boolean'
  return isIoRedis || isNodeRedis
}

/** @throws SluiceError if it is not a client that can be used */
export function checkClient(option: string, value: unknown): RedisClient {
  if (isRedisClient(value)) return value
  throw new SluiceError({
    code: 'SLUICE_STORE_UNKNOWN',
    option,
    expected: 'a client of ioredis or node-redis, or a store such as memoryStore()',
    received: value,
    fix: 'Pass the client itself: new Redis(url) of ioredis, or createClient({ url }) of redis.',
  })
}
