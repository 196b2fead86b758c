import { type RedisServer, startRedis } from '@sluice/test-harness/redis'
import { redisContenders } from '../contenders/redis.ts'
import { ALGORITHMS, OURS } from '../contenders/sluice.ts'
import type { Plan } from '../plan.ts'
import { runRounds } from '../processes/rounds.ts'
import { runTask } from '../processes/run-task.ts'
import { judge, least, samplesOf, times } from '../report/bar.ts'
import { type Bar, type Findings, isPeer, type Measurement, type Unit } from '../report/results.ts'
import type { Load, LoadTask } from './load.script.ts'

const CONCURRENT = 50

/** Left out where each decision travels alone: they only serve to compare among many. */
const CONCURRENT_ONLY = [
  ...ALGORITHMS.map((algorithm) => `sluice ${algorithm}`).filter((name) => name !== OURS),
  `${OURS}, 3 policies`,
  `${OURS}, 10 policies`,
]

type Log = (line: string) => void
type Loads = ReadonlyMap<string, readonly Load[]>

/** What a decision on Redis costs the server, the process and the wire. */
export async function measureRedis(plan: Plan, log: Log): Promise<Findings> {
  const redis = await startRedis()
  try {
    const many = await loads(redis, plan, CONCURRENT, log)
    const single = await loads(redis, plan, 1, log)
    const at = `${CONCURRENT} at a time`
    const redisCpu: Measurement = {
      ...figure(many, `CPU of Redis for a decision, ${at}`, 'µs', 'redisMicros'),
      chart: `CPU of Redis for one decision, ${at}`,
    }
    const measurements = [
      redisCpu,
      figure(many, `CPU of Node for a decision on Redis, ${at}`, 'µs', 'nodeMicros'),
      figure(many, `Scripts run for a decision, ${at}`, 'calls', 'calls'),
      figure(many, `Bytes on the wire for a decision, ${at}`, 'bytes', 'bytes'),
      figure(many, `Decisions on Redis, ${at}`, 'per second', 'perSecond'),
      figure(single, 'CPU of Redis for a decision, one at a time', 'µs', 'redisMicros'),
      figure(single, 'CPU of Node for a decision on Redis, one at a time', 'µs', 'nodeMicros'),
    ]
    return { measurements, bars: redisBars(redisCpu) }
  } finally {
    await redis.stop()
  }
}

function loads(redis: RedisServer, plan: Plan, concurrent: number, log: Log): Promise<Loads> {
  const contests = Object.keys(redisContenders)
    .filter((contender) => concurrent > 1 || !CONCURRENT_ONLY.includes(contender))
    .map((contender) => {
      const { url } = redis
      // One at a time takes long, and varies less.
      const decisions = concurrent > 1 ? plan.decisions : plan.decisions / 12
      const task: LoadTask = { contender, url, keys: plan.fewKeys, decisions, concurrent }
      const measure = async () => {
        await redis.command('FLUSHALL')
        return runTask<Load>('load', task)
      }
      return { contender, measure }
    })
  return runRounds(contests, plan.rounds, (line) => log(`redis, ${concurrent} at a time: ${line}`))
}

function figure(loads: Loads, title: string, unit: Unit, of: keyof Load): Measurement {
  const rows = [...loads].map(([contender, samples]) => {
    return { contender, samples: samples.map((load) => load[of]) }
  })
  return { title, unit, reference: OURS, rows }
}

function redisBars({ title, rows }: Measurement): Bar[] {
  const peer = least(rows.filter(isPeer))
  const one = samplesOf(rows, OURS)
  return [
    judge({
      work: title,
      bar: `at most a quarter of the best peer's, ${peer.contender}`,
      unit: 'µs',
      ours: one,
      allowed: times(1 / 4, peer.samples),
    }),
    judge({
      work: `${title}, fixed-window`,
      bar: `at most a quarter of the best peer's, ${peer.contender}`,
      unit: 'µs',
      ours: samplesOf(rows, 'sluice fixed-window'),
      allowed: times(1 / 4, peer.samples),
    }),
    judge({
      work: `${title}, three policies`,
      bar: "at most half of the best peer's with one",
      unit: 'µs',
      ours: samplesOf(rows, `${OURS}, 3 policies`),
      allowed: times(1 / 2, peer.samples),
    }),
    judge({
      work: `${title}, each of 10 policies`,
      bar: 'at most 1.5 times the cost of a single policy',
      unit: 'µs',
      ours: times(1 / 10, samplesOf(rows, `${OURS}, 10 policies`)),
      allowed: times(1.5, one),
    }),
  ]
}
