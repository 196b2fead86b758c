import { OURS } from '../contenders/sluice.ts'
import { type Contest, type Rounds, runRounds } from '../processes/rounds.ts'
import { contest } from '../processes/run-task.ts'
import { measurementOf } from '../report/measurement.ts'
import type { Measurement } from '../report/results.ts'
import type { ClientCost, DecisionsTask } from './decisions.script.ts'
import type { Meter } from './usage.ts'

/** The servers that decide. */
export interface Servers<Usage> {
  readonly urls: readonly string[]
  readonly meter: Meter<Usage>
}

/** What contenders are asked for, and what is shown of it. */
export interface Work<Usage> extends Omit<DecisionsTask, 'contender' | 'urls'> {
  readonly contenders: readonly string[]
  readonly rounds: Rounds
  readonly figures: readonly FigureOf<Usage & ClientCost>[]
}

export interface FigureOf<Cost> extends Omit<Measurement, 'rows'> {
  readonly of: keyof Cost
}

/** Measures what a decision costs each contender, at both ends: while one is measured, the others idle. */
export async function measureDecisions<Usage extends { readonly [figure: string]: number }>(
  { urls, meter }: Servers<Usage>,
  { contenders, rounds, figures, ...task }: Work<Usage>,
  log: (line: string) => void,
): Promise<Measurement[]> {
  const contests = contenders.map((contender): Contest<Usage & ClientCost> => {
    const client = contest<ClientCost>(contender, 'decisions/decisions', {
      contender,
      urls,
      ...task,
    } satisfies DecisionsTask)
    return {
      contender,
      async start() {
        const { measure, stop } = await client.start()
        return {
          stop,
          async measure() {
            const { result, usage } = await meter(measure)
            const each = Object.entries(usage).map(([name, all]) => [name, all / task.decisions])
            return { ...(Object.fromEntries(each) as Usage), ...result }
          },
        }
      },
    }
  })
  const costs = await runRounds(contests, rounds, (line) => log(`${task.pattern}: ${line}`))
  return figures.map(({ of, ...about }) => {
    return measurementOf(costs, { reference: OURS, ...about }, (cost) => cost[of] as number)
  })
}
