import { SluiceError } from '../../errors/sluice-error.ts'
import { warnOnce } from '../../errors/warning.ts'

/** What is used of a client of ioredis, 5 or 6, or of iovalkey: a `Redis` or a `Cluster`. */
export interface IoRedisClient {
  evalsha(sha: string, keyCount: number, ...keysAndArguments: string[]): Promise<unknown>
  eval(script: string, keyCount: number, ...keysAndArguments: string[]): Promise<unknown>
  /** What only clients have: no pipeline or transaction, and none of another make. */
  readonly status: string
  /** True for a cluster, in which the keys of one call must share a slot. */
  readonly isCluster?: boolean
}

/** The commands of ioredis whose replies come as bytes where they are text. ioredis has no types of them. */
export interface IoRedisBytes {
  evalshaBuffer: IoRedisClient['evalsha']
  evalBuffer: IoRedisClient['eval']
}

/**
 * What is used of a node-redis client, 5 or 6: what `createClient`, `createCluster`,
 * `createClientPool` or `createSentinel` returns, connected by its owner.
 */
export interface NodeRedisClient {
  evalSha(sha: string, input: { keys: string[]; arguments: string[] }): Promise<unknown>
  eval(script: string, input: { keys: string[]; arguments: string[] }): Promise<unknown>
  /** A view of the client that gives replies of a type as objects of a class. */
  withTypeMapping(mapping: { 36: typeof Buffer }): Pick<NodeRedisClient, 'evalSha' | 'eval'>
  readonly isOpen: boolean
  /** A method that only clusters have. */
  readonly nodeClient?: unknown
}

/** What is used of a client of valkey-glide 2: a `GlideClient` or a `GlideClusterClient`. */
export interface ValkeyGlideClient {
  customCommand(args: string[], options: { decoder: 0 }): Promise<unknown>
  /** A method that batches do not have. */
  invokeScript(...args: never[]): Promise<unknown>
  /** A method that only clusters have. */
  readonly invokeScriptWithRoute?: unknown
}

/** A client of Redis or Valkey, handed over as it is. */
export type RedisClient = IoRedisClient | NodeRedisClient | ValkeyGlideClient

export function isRedisClient(value: unknown): value is RedisClient {
  if (value === null || value === undefined) return false
  const client = value as Partial<
    IoRedisClient & IoRedisBytes & NodeRedisClient & ValkeyGlideClient
  >
  if (typeof client.customCommand === 'function') return typeof client.invokeScript === 'function'
  if (typeof client.eval !== 'function') return false
  // Pipelines do not have a status, nor does @upstash/redis, whose `evalsha` takes other arguments.
  const isIoRedis = typeof client.evalshaBuffer === 'function' && typeof client.status === 'string'
  // node-redis' callback interface (`legacy()`) has no `isOpen`, and node-redis 4 gives no replies as bytes.
  return isIoRedis || (isAnyNodeRedis(client) && typeof client.withTypeMapping === 'function')
}

function isAnyNodeRedis(client: Partial<NodeRedisClient>): boolean {
  return typeof client.evalSha === 'function' && typeof client.isOpen === 'boolean'
}

/** @throws SluiceError if it is not a client that can be used */
export function checkClient(option: string, value: unknown): RedisClient {
  if (isRedisClient(value)) return value
  throw new SluiceError({
    code: 'SLUICE_STORE_UNKNOWN',
    option,
    expected:
      'a client of ioredis 5 or 6, iovalkey, node-redis 5 or 6, or valkey-glide 2, or a store such as memoryStore()',
    received: value,
    fix: fixFor(Object(value)),
  })
}

/** What to do about it: clients that many have are known by what tells them from those that can be used. */
function fixFor(value: Partial<IoRedisBytes & NodeRedisClient & ValkeyGlideClient>): string {
  if (isAnyNodeRedis(value)) {
    return 'This client is of node-redis 4: install version 5 or 6 (npm install redis@latest).'
  }
  if (typeof value.customCommand === 'function' && typeof value.evalshaBuffer === 'function') {
    return 'This client is of ioredis-mock, which is no Redis: in tests, pass memoryStore(), or a client of a real server.'
  }
  return 'Pass the client itself: new Redis(url) of ioredis, or createClient({ url }) of redis.'
}

/**
 * Warns of a client of node-redis whose 'error' events nobody listens to: the first one, when the
 * connection breaks, ends the process. Clients of other packages don't do that.
 */
export function warnOfUnguarded(client: RedisClient): void {
  const { listenerCount } = client as Partial<{ listenerCount(event: string): number }>
  if (!isAnyNodeRedis(client as Partial<NodeRedisClient>)) return
  if (listenerCount?.call(client, 'error') !== 0) return
  warnOnce(
    'SLUICE_CLIENT_UNGUARDED',
    "The node-redis client has no 'error' listener, so Node ends the process when Redis is lost. " +
      "Write client.on('error', console.error) before you pass the client on.",
  )
}
