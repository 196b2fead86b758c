import { untilLinked } from './replication.ts'
import { type RedisServer, type StartOptions, startRedis } from './server.ts'
import { startAll, stopAll } from './start-all.ts'
import { until } from './until.ts'

const NAME = 'mymaster'
const FAILOVER_MS = 5_000
/** How long a server does not answer until a sentinel counts it as down, ms: longer than a stall of the machine. */
const DOWN_AFTER_MS = 3_000

export interface SentinelOptions {
  readonly replicas?: number
  /** How many sentinels there are: at least 3, or the death of one leaves no majority. */
  readonly sentinels?: number
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
  stop(): Promise<void>
}

/**
 * Starts a master with replicas, and sentinels that watch over them, and waits until the replicas
 * are linked and every sentinel knows all the others: from then on a failover succeeds.
 */
export async function startSentinel({
  replicas: replicaCount = 1,
  sentinels: sentinelCount = 3,
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
    const sentinel = sentinelLines(master, Math.floor(sentinelCount / 2) + 1)
    const sentinels = await startMore(times(sentinelCount, () => startRedis({ sentinel })))
    await Promise.all(sentinels.map((one) => untilKnowing(one, replicaCount, sentinelCount - 1)))
    return {
      name: NAME,
      master,
      replicas,
      sentinels,
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

function sentinelLines(master: RedisServer, quorum: number): string[] {
  return [
    `sentinel monitor ${NAME} ${master.host} ${master.port} ${quorum}`,
    `sentinel down-after-milliseconds ${NAME} ${DOWN_AFTER_MS}`,
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
