import { startCluster } from '@sluice/test-harness/redis'
import { FLOOR_OF_3, redisContenders } from '../contenders/redis.ts'
import { ALGORITHMS, COUNTING, OURS } from '../contenders/sluice.ts'
import type { Plan } from '../plan.ts'
import { measureDecisions } from '../redis/measure.ts'
import { measurementOf } from '../report/measurement.ts'
import type { Measurement } from '../report/results.ts'

const LOGS = ALGORITHMS.filter((name) => !COUNTING.includes(name)).map((name) => `sluice ${name}`)

/** Measures the cost of a decision through a cluster of three masters, 50 clients at once. */
export async function measureCluster(
  plan: Plan,
  log: (line: string) => void,
): Promise<Measurement[]> {
  const cluster = await startCluster({ masters: 3 })
  try {
    const left = [...LOGS, FLOOR_OF_3]
    const contenders = Object.keys(redisContenders).filter((name) => !left.includes(name))
    const of = { pattern: '50 in a turn', decisions: plan.crowded / 2, rounds: plan } as const
    const costs = await measureDecisions(cluster.masters, contenders, of, plan, log)
    const title = (what: string) => `Cluster: ${what} for one request, 50 clients at once`
    const script = measurementOf(
      costs,
      {
        title: title("Redis' script time"),
        unit: 'µs',
        reference: OURS,
        chart: "Cluster: Redis' script time of a request",
      },
      ({ scriptMicros }) => scriptMicros,
    )
    const redisCpu = measurementOf(
      costs,
      { title: title('CPU of the three Redis'), unit: 'µs', reference: OURS },
      ({ redisMicros }) => redisMicros,
    )
    const nodeCpu = measurementOf(
      costs,
      { title: title('CPU of Node'), unit: 'µs', reference: OURS },
      ({ nodeMicros }) => nodeMicros,
    )
    return [script, redisCpu, nodeCpu]
  } finally {
    await cluster.stop()
  }
}
