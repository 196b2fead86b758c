import { memoryContenders } from '../contenders/memory.ts'
import { COUNTING, OURS } from '../contenders/sluice.ts'
import type { Plan } from '../plan.ts'
import { runRounds } from '../processes/rounds.ts'
import { NO_COLLECTIONS, runTask } from '../processes/run-task.ts'
import type { Findings, Measurement } from '../report/results.ts'
import type { Allocation, AllocationTask } from './allocation.script.ts'
import { memoryBars } from './bars.ts'
import type { Pauses, PauseTask } from './pause.script.ts'
import type { Speed, SpeedTask } from './speed.script.ts'

/** With many keys those are left out that only serve to compare among few. */
const FEW_KEYS_ONLY = ['sluice sliding-log', 'sluice sliding-window, 10 policies']

/** They hardly differ. */
const ALLOCATION_ROUNDS = 2

type Log = (line: string) => void

/** Time, heap, allocations and pauses of one process that counts by itself. */
export async function measureMemory(plan: Plan, log: Log): Promise<Findings> {
  const few = await speeds(plan, plan.fewKeys, log)
  const many = await speeds(plan, plan.manyKeys, log)
  const measurements: MemoryMeasurements = {
    few: timesOf(few, plan.fewKeys),
    many: timesOf(many, plan.manyKeys),
    heap: {
      title: `Heap for a key, the key itself left out, at ${plan.manyKeys.toLocaleString('en')} keys`,
      unit: 'bytes',
      reference: OURS,
      chart: `Memory for one key, at ${plan.manyKeys.toLocaleString('en')} keys`,
      rows: [...many]
        .filter(([contender]) => !contender.startsWith('floor'))
        .map(([contender, samples]) => ({
          contender,
          samples: samples.map(({ heapPerKey }) => heapPerKey),
        })),
    },
    allocations: await allocations(log),
    pauses: await pauses(plan, log),
  }
  return { measurements: Object.values(measurements), bars: memoryBars(measurements) }
}

export interface MemoryMeasurements {
  readonly few: Measurement
  readonly many: Measurement
  readonly heap: Measurement
  readonly allocations: Measurement
  readonly pauses: Measurement
}

function speeds(plan: Plan, keys: number, log: Log): Promise<Map<string, Speed[]>> {
  const { warmUpMs, measuredMs } = plan
  const contests = Object.keys(memoryContenders)
    .filter((contender) => keys === plan.fewKeys || !FEW_KEYS_ONLY.includes(contender))
    .map((contender) => {
      const task: SpeedTask = { contender, keys, warmUpMs, measuredMs }
      return { contender, measure: () => runTask<Speed>('speed', task, ['--expose-gc']) }
    })
  return runRounds(contests, plan.rounds, (line) => log(`memory, ${keys} keys: ${line}`))
}

function timesOf(speeds: Map<string, Speed[]>, keys: number): Measurement {
  return {
    title: `One count in memory, ${keys.toLocaleString('en')} keys`,
    unit: 'ns',
    reference: OURS,
    chart: `One decision in memory, ${keys.toLocaleString('en')} keys`,
    rows: [...speeds].map(([contender, samples]) => ({
      contender,
      samples: samples.map(({ nanoseconds }) => nanoseconds),
    })),
  }
}

async function allocations(log: Log): Promise<Measurement> {
  const contests = COUNTING.map((algorithm) => {
    const task: AllocationTask = { algorithm }
    const measure = () => runTask<Allocation>('allocation', task, NO_COLLECTIONS)
    return { contender: `sluice ${algorithm}`, measure }
  })
  const found = await runRounds(contests, ALLOCATION_ROUNDS, (line) => log(`allocations: ${line}`))
  return {
    title: 'Allocated by one consume',
    unit: 'bytes',
    rows: [...found].flatMap(([contender, samples]) => [
      { contender, samples: samples.map(({ allocated }) => allocated) },
      { contender: `${contender}: its decision`, samples: samples.map(({ decision }) => decision) },
    ]),
  }
}

async function pauses(plan: Plan, log: Log): Promise<Measurement> {
  const task: PauseTask = { keys: plan.manyKeys }
  const contest = { contender: 'sluice', measure: () => runTask<Pauses>('pause', task) }
  const found = (await runRounds([contest], plan.rounds, (line) => log(`pauses: ${line}`))).get(
    'sluice',
  )
  const row = (contender: string, of: keyof Pauses) => {
    return { contender, samples: found?.map((pauses) => pauses[of]) ?? [] }
  }
  return {
    title: `Longest pause with ${plan.manyKeys.toLocaleString('en')} keys, collections of garbage left out`,
    unit: 'ms',
    rows: [
      row('filling the store', 'filling'),
      row('sweeping when all keys expire at once', 'sweeping'),
      row('evicting when the store is full', 'evicting'),
      row('control: the machine itself', 'control'),
    ],
  }
}
