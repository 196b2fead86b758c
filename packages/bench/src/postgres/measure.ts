import type { PostgresServer } from '@sluice/test-harness/postgres'
import { type Contest, type Rounds, runRounds } from '../processes/rounds.ts'
import { contest } from '../processes/run-task.ts'
import type { Pattern } from '../redis/patterns.ts'
import type { ClientCost, CountingTask } from './counting.script.ts'

const KEYS = 1000

/** The cost of one decision. */
export interface Cost extends ClientCost {
  readonly serverMicros: number
}

/** Measures contenders on a server, in interleaved rounds. */
export function measureCosts(
  server: PostgresServer,
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
  server: PostgresServer,
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
