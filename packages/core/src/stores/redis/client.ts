import { SluiceError } from '../../errors/sluice-error.ts'
import { warnOnce } from '../../errors/warning.ts'

/** The part of a client of ioredis, 5 or 6, or of iovalkey that is used: a `Redis` or a `Cluster`. */
export interface IoRedisClient {
  evalsha(sha: string, keyCount: number, ...keysAndArguments: string[]): Promise<unknown>
  eval(script: string, keyCount: number, ...keysAndArguments: string[]): Promise<unknown>
  /** Only clients have it: no pipeline or transaction, and no client of another make. */
  readonly status: string
  /** True for a cluster, in which the keys of one call must share a hash slot. */
  readonly isCluster?: boolean
}

/** The commands of ioredis whose replies come as bytes where they are text. ioredis has no types of them. */
export interface IoRedisBytes {
  evalshaBuffer: IoRedisClient['evalsha']
  evalBuffer: IoRedisClient['eval']
}

/**
 * The part of a node-redis client, 5 or 6, that is used: what `createClient`, `createCluster`,
 * `createClientPool` or `createSentinel` returns, connected by its owner.
 */
export interface NodeRedisClient {
  evalSha(sha: string, input: { keys: string[]; arguments: string[] }): Promise<unknown>
  eval(script: string, input: { keys: string[]; arguments: string[] }): Promise<unknown>
  /** A view of the client that gives replies of a type as objects of a class. */
  withTypeMapping(mapping: { 36?: unknown }): Pick<NodeRedisClient, 'evalSha' | 'eval'>
  readonly isOpen: boolean
  /** A method that only clusters have. */
  readonly nodeClient?: unknown
}

/** The part of a client of valkey-glide 2 that is used: a `GlideClient` or a `GlideClusterClient`. */
export interface ValkeyGlideClient {
  customCommand(args: string[], options: { decoder: 0 }): Promise<unknown>
  /** A method that batches do not have. */
  invokeScript(...args: never[]): Promise<unknown>
  /** A method that only clusters have. */
  readonly invokeScriptWithRoute?: unknown
}

/**
 * The part of a client of @upstash/redis that is used, which calls Redis over HTTP: for Node, for Cloudflare or for
 * Fastly, with or without automatic pipelining.
 */
export interface UpstashClient {
  evalsha(sha: string, keys: string[], args: string[]): Promise<unknown>
  eval(script: string, keys: string[], args: string[]): Promise<unknown>
  /** A method that pipelines and transactions do not have, nor clients of another make. */
  createScript(...args: never[]): unknown
}

/** The part of Bun's own client that is used: a `RedisClient`, or `redis`. */
export interface BunRedisClient {
  send(command: string, args: string[]): Promise<unknown>
  readonly connected: boolean
  onclose: unknown
}

/** A Redis or Valkey client, unwrapped. */
export type RedisClient =
  | IoRedisClient
  | NodeRedisClient
  | ValkeyGlideClient
  | UpstashClient
  | BunRedisClient

export function isRedisClient(value: unknown): value is RedisClient {
  if (value === null || value === undefined) return false
  const client = value as Readonly<Record<string, unknown>>
  if (typeof client.customCommand === 'function') return typeof client.invokeScript === 'function'
  if (isBun(value as RedisClient)) return true
  if (typeof client.eval !== 'function') return false
  if (isUpstash(value as RedisClient)) return typeof client.evalsha === 'function'
  // Pipelines do not have a status.
  const isIoRedis = typeof client.evalshaBuffer === 'function' && typeof client.status === 'string'
  // node-redis' callback interface (`legacy()`) has no `isOpen`, and node-redis 4 gives no replies as bytes.
  return isIoRedis || (isAnyNodeRedis(client) && typeof client.withTypeMapping === 'function')
}

/** Asked of the method itself: what stands for a client may be a proxy that has no keys. */
export function isUpstash(client: RedisClient): client is UpstashClient {
  return typeof (client as UpstashClient).createScript === 'function'
}

export function isBun(client: RedisClient): client is BunRedisClient {
  const { send, connected } = client as BunRedisClient
  // A process has these two as well.
  return typeof send === 'function' && typeof connected === 'boolean' && 'onclose' in client
}

/** Whether it is a client of a whole cluster. */
export function isCluster(client: RedisClient): boolean {
  if (isUpstash(client) || isBun(client)) return false
  if ('customCommand' in client) return typeof client.invokeScriptWithRoute === 'function'
  return 'evalsha' in client ? client.isCluster === true : typeof client.nodeClient === 'function'
}

function isAnyNodeRedis(client: { evalSha?: unknown; isOpen?: unknown }): boolean {
  return typeof client.evalSha === 'function' && typeof client.isOpen === 'boolean'
}

/** @throws SluiceError if it is not a client that can be used */
export function checkClient(option: string, value: unknown): RedisClient {
  if (isRedisClient(value)) return value
  throw new SluiceError({
    code: 'SLUICE_STORE_UNKNOWN',
    option,
    expected:
      'a client of ioredis 5 or 6, iovalkey, node-redis 5 or 6, valkey-glide 2, @upstash/redis or Bun, or a store such as memoryStore()',
    received: value,
    fix: fixFor(Object(value)),
  })
}

/** Common mistakes in place of such a client, by the property that identifies each. */
function fixFor(value: Readonly<Record<string, unknown>>): string {
  if (typeof value.then === 'function') return 'Await it: this is a promise.'
  const isPool = typeof value.connect === 'function' && typeof value.query === 'function'
  if (isPool || typeof value.unsafe === 'function') {
    return 'Write postgresStore(pool) of @sluice/postgres, with a Pool of pg or a client of postgres.js.'
  }
  if (typeof value.getConnection === 'function') {
    return 'Write mysqlStore(pool) of @sluice/mysql, with a pool of mysql2/promise.'
  }
  if (value.middlewareStack !== undefined) {
    return 'Write dynamodbStore(client) of @sluice/dynamodb, with a client of DynamoDB.'
  }
  if (isAnyNodeRedis(value)) {
    return 'Install version 5 or 6 (npm install redis@latest): this client is of node-redis 4.'
  }
  if (typeof value.customCommand === 'function' && typeof value.evalshaBuffer === 'function') {
    return 'In tests, pass memoryStore(), or a client of a real server: the Lua of ioredis-mock lacks struct.'
  }
  if (typeof value.increment === 'function') {
    return 'Pass the client itself: this is a store of another limiter.'
  }
  return 'Pass the client itself: new Redis(url) of ioredis, or createClient({ url }) of redis.'
}

/**
 * Warns of a client of node-redis whose 'error' events nobody listens to: the first one, when the
 * connection breaks, ends the process. Clients of other packages don't do that.
 */
export function warnOfUnguarded(client: RedisClient): void {
  const { listenerCount } = client as Partial<{ listenerCount(event: string): number }>
  if (!isAnyNodeRedis(client as object)) return
  if (listenerCount?.call(client, 'error') !== 0) return
  warnOnce(
    'SLUICE_CLIENT_UNGUARDED',
    "The node-redis client has no 'error' listener, so Node ends the process when Redis is lost. " +
      "Write client.on('error', console.error) before you pass the client on.",
  )
}
