import { type RedisServer, startCluster, startRedis } from '@sluice/test-harness/redis'
import { Redis } from 'ioredis'
import { FLOOR_OF_3, OURS_OF_3, redisContenders } from '../contenders/redis.ts'
import { ALGORITHMS, COUNTING, OURS } from '../contenders/sluice.ts'
import type { Plan } from '../plan.ts'
import type { Measurement, Unit } from '../report/results.ts'
import type { ClientCost } from './decisions.script.ts'
import { type FigureOf, measureDecisions, type Work } from './measure.ts'
import { type RedisUsage, redisMeter } from './usage.ts'

type Log = (line: string) => void
type Cost = RedisUsage & ClientCost

const WARM_UP = 10_000

const OTHERS = ALGORITHMS.map((algorithm) => `sluice ${algorithm}`).filter((name) => name !== OURS)
const LOGS = ALGORITHMS.filter((name) => !COUNTING.includes(name)).map((name) => `sluice ${name}`)

/** Measures the cost of a decision on one Redis server. */
export async function measureRedis(plan: Plan, log: Log): Promise<Measurement[]> {
  const redis = await startRedis()
  try {
    return await measureOn([redis], [single(plan), crowded(plan), paced(plan)], log)
  } finally {
    await redis.stop()
  }
}

/** Measures the cost of a decision through a cluster of three masters. */
export async function measureCluster(plan: Plan, log: Log): Promise<Measurement[]> {
  const cluster = await startCluster({ masters: 3 })
  try {
    return await measureOn(cluster.masters, [onCluster(plan)], log)
  } finally {
    await cluster.stop()
  }
}

async function measureOn(
  servers: readonly RedisServer[],
  works: readonly Work<RedisUsage>[],
  log: Log,
): Promise<Measurement[]> {
  const clients = servers.map(({ url }) => new Redis(url))
  const on = { urls: servers.map(({ url }) => url), meter: redisMeter(clients) }
  const measurements: Measurement[] = []
  for (const work of works) measurements.push(...(await measureDecisions(on, work, log)))
  for (const client of clients) client.disconnect()
  return measurements
}

function single(plan: Plan): Work<RedisUsage> {
  return {
    ...common(plan),
    pattern: 'one at a time',
    decisions: plan.single,
    figures: [
      charted("Redis' script time of a call for one request", 'scriptMicros'),
      charted('CPU of Redis, one request at a time', 'cpuMicros'),
      charted('CPU of Node, one request at a time', 'nodeMicros'),
      figure('Median latency on Redis, one request at a time', 'ms', 'p50Ms'),
      figure('99th percentile of that latency, one request at a time', 'ms', 'p99Ms'),
    ],
  }
}

function crowded(plan: Plan): Work<RedisUsage> {
  return {
    ...common(plan, OTHERS),
    pattern: '50 in a turn',
    decisions: plan.crowded,
    figures: [
      charted('CPU of Redis, 50 requests in a turn', 'cpuMicros'),
      charted('CPU of Node, 50 requests in a turn', 'nodeMicros'),
      figure('Script calls for one of 50 requests in a turn', 'calls', 'calls'),
      figure('Bytes on the wire for one of 50 requests in a turn', 'bytes', 'bytes'),
    ],
  }
}

function paced(plan: Plan): Work<RedisUsage> {
  return {
    ...common(plan, [...OTHERS, OURS_OF_3, FLOOR_OF_3]),
    rounds: { starts: plan.starts, rounds: plan.longRounds },
    pattern: '200 a second',
    // A second.
    decisions: 200,
    figures: [
      figure('Median latency on Redis, 200 requests a second', 'ms', 'p50Ms'),
      figure('99th percentile of that latency, 200 requests a second', 'ms', 'p99Ms'),
    ],
  }
}

function onCluster(plan: Plan): Work<RedisUsage> {
  const title = (what: string) => `Cluster: ${what} for one request, 50 clients at once`
  const script = figure(title("Redis' script time"), 'µs', 'scriptMicros')
  return {
    ...common(plan, [...LOGS, FLOOR_OF_3]),
    pattern: '50 in a turn',
    decisions: plan.crowded / 2,
    figures: [
      { ...script, chart: "Cluster: Redis' script time of a request" },
      figure(title('CPU of the three Redis'), 'µs', 'cpuMicros'),
      figure(title('CPU of Node'), 'µs', 'nodeMicros'),
    ],
  }
}

/** @param left the contenders that are left out */
function common(plan: Plan, left: readonly string[] = []) {
  const contenders = Object.keys(redisContenders).filter((name) => !left.includes(name))
  return { contenders, rounds: plan as Plan, keys: plan.fewKeys, warmUp: WARM_UP }
}

function figure(title: string, unit: Unit, of: keyof Cost): FigureOf<Cost> {
  return { title, unit, of }
}

function charted(title: string, of: keyof Cost): FigureOf<Cost> {
  return { ...figure(title, 'µs', of), chart: title }
}
