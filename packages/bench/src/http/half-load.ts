import type { RedisServer } from '@sluice/test-harness/redis'
import type { FrameworkName } from '../contenders/frameworks.ts'
import type { Plan } from '../plan.ts'
import { type Contest, runRounds } from '../processes/rounds.ts'
import { judge } from '../report/bar.ts'
import type { Findings } from '../report/results.ts'
import { differences } from '../statistics/quartiles.ts'
import { roundTripMs } from './round-trip.ts'
import type { ServerTask } from './server.script.ts'
import { startServer } from './server.ts'
import { wrk } from './wrk.ts'

const ROUND_TRIP = 'one round trip to Redis'

/** What the Redis store adds to the 99th percentile of the latency where there is room to spare. */
export async function measureHalfLoad(
  framework: FrameworkName,
  perSecond: number,
  redis: RedisServer,
  plan: Plan,
  log: (line: string) => void,
): Promise<Findings> {
  const p99 = (task: ServerTask) => () => measureP99(task, perSecond, plan)
  const contests: Contest<number>[] = [
    { contender: 'bare', measure: p99({ framework, contender: 'bare' }) },
    { contender: 'sluice', measure: p99({ framework, contender: 'sluice', url: redis.url }) },
    { contender: ROUND_TRIP, measure: () => roundTripMs(redis.url) },
  ]
  const found = await runRounds(contests, plan.rounds, (line) =>
    log(`http at half load, ${framework}: ${line}`),
  )
  const samples = (contender: string) => found.get(contender) ?? []
  const load = `${Math.round(perSecond).toLocaleString('en')} requests per second`
  const added = differences(samples('sluice'), samples('bare'))
  return {
    measurements: [
      {
        title: `${framework}: 99th percentile of the latency at half load, ${load}`,
        unit: 'ms',
        rows: [...found].map(([contender, samples]) => ({ contender, samples })),
      },
    ],
    bars: [
      judge({
        work: `${framework}: what the Redis store adds to the 99th percentile at half load`,
        bar: 'at most one round trip and 0.3 ms',
        unit: 'ms',
        ours: added,
        allowed: samples(ROUND_TRIP).map((trip) => trip + 0.3),
      }),
    ],
  }
}

async function measureP99(task: ServerTask, perSecond: number, plan: Plan): Promise<number> {
  const server = await startServer(task)
  try {
    await wrk(server.url, plan.httpWarmUpSeconds)
    return (await wrk(server.url, plan.httpSeconds, perSecond)).p99Ms
  } finally {
    await server.stop()
  }
}
