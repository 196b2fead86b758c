import { OURS } from '../contenders/sluice.ts'
import { machine, packageVersion } from '../environment.ts'
import { type Contest, type Rounds, runRounds } from '../processes/rounds.ts'
import { contest } from '../processes/run-task.ts'
import type { Pattern } from '../redis/patterns.ts'
import { measurementOf } from '../report/measurement.ts'
import type { Measurement, Unit } from '../report/results.ts'
import { facts, measurementTable } from '../report/tables.ts'
import type { ClientCost, CountingTask } from './counting.script.ts'

const KEYS = 1000

/** The cost of one decision. */
interface Cost extends ClientCost {
  readonly serverMicros: number
}

/** A server of a database. */
export interface DatabaseServer {
  readonly url: string
  /** CPU time of each of its processes or threads so far, µs. */
  cpuMicros(): ReadonlyMap<number, number>
}

const ROUNDS = { starts: 2, rounds: 5 }
/** Decisions of each contender in each round. */
const DECISIONS = { 'one at a time': 150, '50 in a turn': 1000 } as const

const FIGURES: readonly { title: string; unit: Unit; of: keyof Cost }[] = [
  { title: "CPU of the server's processes", unit: 'µs', of: 'serverMicros' },
  { title: "CPU of the client's process", unit: 'µs', of: 'nodeMicros' },
  { title: 'Median latency', unit: 'ms', of: 'p50Ms' },
  { title: '99th percentile of the latency', unit: 'ms', of: 'p99Ms' },
]

/** Measures contenders on a server, and prints tables. @param versions more of them than those of the packages */
export async function report(
  server: DatabaseServer,
  contenders: readonly string[],
  packages: readonly string[],
  versions: { readonly [name: string]: string },
): Promise<void> {
  const begun = performance.now()
  const before = machine()
  const measurements: Measurement[] = []
  for (const pattern of ['one at a time', '50 in a turn'] satisfies Pattern[]) {
    const of = { pattern, decisions: DECISIONS[pattern], rounds: ROUNDS }
    const costs = await measureCosts(server, contenders, of)
    for (const { title, unit, of: figure } of FIGURES) {
      const about = { title: `${title}, ${pattern}`, unit, reference: OURS }
      measurements.push(measurementOf(costs, about, (cost) => cost[figure]))
    }
  }
  const all = Object.fromEntries(packages.map((name) => [name, packageVersion(name)]))
  const took = `${Math.round((performance.now() - begun) / 1000)} s`
  console.log(
    [
      facts({ ...before, 'load after': machine()['load before'] as string, took }),
      facts({ Node: process.versions.node, ...versions, ...all }),
      ...measurements.map(measurementTable),
    ].join('\n\n'),
  )
}

/** Measures contenders in interleaved rounds. */
function measureCosts(
  server: DatabaseServer,
  contenders: readonly string[],
  of: { readonly pattern: Pattern; readonly decisions: number; readonly rounds: Rounds },
): Promise<Map<string, Cost[]>> {
  const { pattern, decisions, rounds } = of
  const contests = contenders.map((contender) => {
    const task: CountingTask = { contender, url: server.url, keys: KEYS, pattern, decisions }
    return withServer(server, decisions, contest<ClientCost>(contender, 'counting', task))
  })
  return runRounds(contests, rounds, () => {})
}

/** Adds the CPU time of the server's processes: while one contender is measured, the others idle. */
function withServer(
  server: DatabaseServer,
  decisions: number,
  { contender, start }: Contest<ClientCost>,
): Contest<Cost> {
  return {
    contender,
    async start() {
      const running = await start()
      return {
        stop: () => running.stop(),
        async measure() {
          const before = server.cpuMicros()
          const cost = await running.measure()
          let micros = 0
          for (const [pid, after] of server.cpuMicros()) micros += after - (before.get(pid) ?? 0)
          return { ...cost, serverMicros: micros / decisions }
        },
      }
    },
  }
}
