import { untilLinked } from './replication.ts'
import { type RedisServer, type StartOptions, startRedis } from './server.ts'
import { startAll, stopAll } from './start-all.ts'
import { until } from './until.ts'

const NAME = 'mymaster'
const FAILOVER_MS = 5_000

export interface SentinelOptions {
  readonly replicas?: number
  /** How many sentinels there are: at least 3, or the death of one leaves no majority. */
  readonly sentinels?: number
  /**
   * How long a server does not answer until a sentinel counts it as down, in milliseconds. Default:
   * 3 s, longer than a stall of the machine.
   */
  readonly downAfterMs?: number
  /** How the master and the replicas are started, such as `{ clockOffsetMs: 0 }`. */
  readonly server?: Omit<StartOptions, 'port'>
}

export interface RedisSentinel {
  /** The name of the master at the sentinels. */
  readonly name: string
  /** The master at the start: a failover later changes who is master. */
  readonly master: RedisServer
  readonly replicas: readonly RedisServer[]
  readonly sentinels: readonly RedisServer[]
  /** The master that a sentinel would name to a client. */
  currentMaster(): Promise<RedisServer>
  stop(): Promise<void>
}

/**
 * Starts a master with replicas, and sentinels that watch over them, and waits until the replicas
 * are linked and every sentinel knows all the others: from then on a failover succeeds.
 */
export async function startSentinel({
  replicas: replicaCount = 1,
  sentinels: sentinelCount = 3,
  downAfterMs = 3_000,
  server = {},
}: SentinelOptions = {}): Promise<RedisSentinel> {
  const master = await startRedis(server)
  const started = [master]
  const startMore = async (starts: Promise<RedisServer>[]) => {
    const servers = await startAll(starts)
    started.push(...servers)
    return servers
  }
  try {
    const replicas = await startMore(times(replicaCount, () => startReplica(master, server)))
    await Promise.all(replicas.map(untilLinked))
    const sentinel = sentinelLines(master, Math.floor(sentinelCount / 2) + 1, downAfterMs)
    const sentinels = await startMore(times(sentinelCount, () => startRedis({ sentinel })))
    await Promise.all(sentinels.map((one) => untilKnowing(one, replicaCount, sentinelCount - 1)))
    return {
      name: NAME,
      master,
      replicas,
      sentinels,
      currentMaster: () => currentMaster(sentinels, [master, ...replicas]),
      stop: () => stopAll(started),
    }
  } catch (error) {
    await stopAll(started)
    throw error
  }
}

function times<T>(count: number, make: () => T): T[] {
  return Array.from({ length: count }, make)
}

function startReplica(master: RedisServer, server: StartOptions): Promise<RedisServer> {
  const args = ['--replicaof', master.host, `${master.port}`, ...(server.args ?? [])]
  return startRedis({ ...server, args })
}

function sentinelLines(master: RedisServer, quorum: number, downAfterMs: number): string[] {
  return [
    `sentinel monitor ${NAME} ${master.host} ${master.port} ${quorum}`,
    `sentinel down-after-milliseconds ${NAME} ${downAfterMs}`,
    // Twice as long a failed failover waits for its next try: three minutes by default.
    `sentinel failover-timeout ${NAME} ${FAILOVER_MS}`,
  ]
}

async function untilKnowing(
  sentinel: RedisServer,
  replicas: number,
  others: number,
): Promise<void> {
  const knows = async () => {
    const fields = (await sentinel.command('SENTINEL', 'MASTER', NAME)) as string[]
    const field = (name: string) => Number(fields[fields.indexOf(name) + 1])
    return field('num-slaves') === replicas && field('num-other-sentinels') === others
  }
  const what = `the sentinel on port ${sentinel.port} knows all the servers`
  await until(knows, { everyMs: 20, what })
}

async function currentMaster(
  sentinels: readonly RedisServer[],
  servers: readonly RedisServer[],
): Promise<RedisServer> {
  const ask = (sentinel: RedisServer) =>
    sentinel.command('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', NAME) as Promise<[string, string]>
  const [, port] = await Promise.any(sentinels.map(ask))
  return servers.find((server) => String(server.port) === port)!
}
