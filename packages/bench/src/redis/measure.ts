import type { RedisServer } from '@sluice/test-harness/redis'
import type { Plan } from '../plan.ts'
import { type Rounds, runRounds } from '../processes/rounds.ts'
import { contest } from '../processes/run-task.ts'
import type { DecisionCost, DecisionsTask } from './decisions.script.ts'
import type { Pattern } from './patterns.ts'

export type Costs = ReadonlyMap<string, readonly DecisionCost[]>

/** Measures contenders on a server, or on the masters of a cluster. */
export function measureDecisions(
  servers: readonly RedisServer[],
  contenders: readonly string[],
  of: { readonly pattern: Pattern; readonly decisions: number; readonly rounds: Rounds },
  plan: Plan,
  log: (line: string) => void,
): Promise<Costs> {
  const { pattern, decisions, rounds } = of
  const ports = servers.map(({ port }) => port)
  const contests = contenders.map((contender) => {
    const task: DecisionsTask = { contender, ports, keys: plan.fewKeys, pattern, decisions }
    return contest<DecisionCost>(contender, 'decisions', task)
  })
  return runRounds(contests, rounds, (line) => log(`redis, ${pattern}: ${line}`))
}
