import { type RedisServer, startRedis } from '@sluice/test-harness/redis'
import { FLOOR_OF_3, OURS_OF_3, redisContenders } from '../contenders/redis.ts'
import { ALGORITHMS, OURS } from '../contenders/sluice.ts'
import type { Plan } from '../plan.ts'
import { measurementOf } from '../report/measurement.ts'
import type { Measurement, Unit } from '../report/results.ts'
import type { DecisionCost } from './decisions.script.ts'
import { type Costs, measureDecisions } from './measure.ts'

type Log = (line: string) => void

/** Seconds of each measurement at 200 a second. */
const PACED_SECONDS = 1

const OTHERS = ALGORITHMS.map((algorithm) => `sluice ${algorithm}`).filter((name) => name !== OURS)

/** Measures the cost of a decision on one Redis server, at both ends. */
export async function measureRedis(plan: Plan, log: Log): Promise<Measurement[]> {
  const redis = await startRedis()
  try {
    return [
      ...(await single(redis, plan, log)),
      ...(await crowded(redis, plan, log)),
      ...(await paced(redis, plan, log)),
    ]
  } finally {
    await redis.stop()
  }
}

async function single(redis: RedisServer, plan: Plan, log: Log): Promise<Measurement[]> {
  const of = { pattern: 'one at a time', decisions: plan.single, rounds: plan } as const
  const costs = await measureDecisions([redis], Object.keys(redisContenders), of, plan, log)
  const script = figure(
    costs,
    "Redis' script time of a call for one request",
    'µs',
    'scriptMicros',
    true,
  )
  const redisCpu = figure(costs, 'CPU of Redis, one request at a time', 'µs', 'redisMicros', true)
  const nodeCpu = figure(costs, 'CPU of Node, one request at a time', 'µs', 'nodeMicros', true)
  const p50 = figure(costs, 'Median latency on Redis, one request at a time', 'ms', 'p50Ms')
  const p99 = figure(costs, '99th percentile of that latency, one request at a time', 'ms', 'p99Ms')
  return [script, redisCpu, nodeCpu, p50, p99]
}

async function crowded(redis: RedisServer, plan: Plan, log: Log): Promise<Measurement[]> {
  const contenders = Object.keys(redisContenders).filter((name) => !OTHERS.includes(name))
  const of = { pattern: '50 in a turn', decisions: plan.crowded, rounds: plan } as const
  const costs = await measureDecisions([redis], contenders, of, plan, log)
  const redisCpu = figure(costs, 'CPU of Redis, 50 requests in a turn', 'µs', 'redisMicros', true)
  const nodeCpu = figure(costs, 'CPU of Node, 50 requests in a turn', 'µs', 'nodeMicros', true)
  return [
    redisCpu,
    nodeCpu,
    figure(costs, 'Script calls for one of 50 requests in a turn', 'calls', 'calls'),
    figure(costs, 'Bytes on the wire for one of 50 requests in a turn', 'bytes', 'bytes'),
  ]
}

async function paced(redis: RedisServer, plan: Plan, log: Log): Promise<Measurement[]> {
  const left = [...OTHERS, OURS_OF_3, FLOOR_OF_3]
  const contenders = Object.keys(redisContenders).filter((name) => !left.includes(name))
  const rounds = { starts: plan.starts, rounds: plan.longRounds }
  const of = { pattern: '200 a second', decisions: 200 * PACED_SECONDS, rounds } as const
  const costs = await measureDecisions([redis], contenders, of, plan, log)
  const p50 = figure(costs, 'Median latency on Redis, 200 requests a second', 'ms', 'p50Ms')
  const p99 = figure(costs, '99th percentile of that latency, 200 requests a second', 'ms', 'p99Ms')
  return [p50, p99]
}

function figure(costs: Costs, title: string, unit: Unit, of: keyof DecisionCost, charted = false) {
  const about = { title, unit, reference: OURS, ...(charted && { chart: title }) }
  return measurementOf(costs, about, (cost) => cost[of])
}
