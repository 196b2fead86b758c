import { SluiceError } from '../../errors.ts'

/** What is used of an ioredis client, 5 or 6: a `Redis` or a `Cluster`, handed over as it is. */
export interface RedisClient {
  evalsha(sha: string, keyCount: number, ...keysAndArguments: string[]): Promise<unknown>
  eval(script: string, keyCount: number, ...keysAndArguments: string[]): Promise<unknown>
  /** True for a cluster, in which the keys of one call must share a slot. */
  readonly isCluster?: boolean
}

export function isRedisClient(value: unknown): value is RedisClient {
  const client = value as Partial<RedisClient> | null | undefined
  return typeof client?.evalsha === 'function' && typeof client.eval === 'function'
}

/** @throws SluiceError if it is not a client that can be used */
export function checkClient(option: string, value: unknown): RedisClient {
  if (isRedisClient(value)) return value
  throw new SluiceError({
    code: 'SLUICE_STORE_UNKNOWN',
    option,
    expected: 'an ioredis client (Redis or Cluster) or a store such as memoryStore()',
    received: value,
    fix: `Hand over the client itself: store: new Redis(process.env.REDIS_URL).`,
  })
}
