import { memoryContenders } from '../contenders/memory.ts'
import { COUNTING, OURS } from '../contenders/sluice.ts'
import type { Plan } from '../plan.ts'
import { runRounds } from '../processes/rounds.ts'
import { contest, NO_COLLECTIONS, runTask } from '../processes/run-task.ts'
import { measurementOf } from '../report/measurement.ts'
import type { Measurement } from '../report/results.ts'
import type { AllocationTask } from './allocation.script.ts'
import type { HeapTask } from './heap.script.ts'
import type { SpeedTask } from './speed.script.ts'

/** Contenders that only serve to compare among few keys: with many keys they are left out. */
const FEW_KEYS_ONLY = ['sluice sliding-log', 'sluice sliding-window, 10 policies']

type Log = (line: string) => void

/** Time, heap and allocations of one process that counts by itself. */
export async function measureMemory(plan: Plan, log: Log): Promise<Measurement[]> {
  const few = await speeds(plan, plan.fewKeys, log)
  const many = await speeds(plan, plan.manyKeys, log)
  log('heap')
  const heap = await heaps(plan)
  log('allocations')
  const allocated = await allocations()
  return [few, many, heap, allocated]
}

async function speeds(plan: Plan, keys: number, log: Log): Promise<Measurement> {
  const { warmUpMs, measuredMs } = plan
  const isFew = keys === plan.fewKeys
  const contests = Object.keys(memoryContenders)
    .filter((contender) => isFew || !FEW_KEYS_ONLY.includes(contender))
    .map((contender) => {
      const task: SpeedTask = { contender, keys, warmUpMs, measuredMs }
      return contest<number>(contender, 'memory/speed', task)
    })
  const rounds = isFew ? plan : { ...plan, starts: 1 }
  const label = `${keys.toLocaleString('en')} keys`
  const times = await runRounds(contests, rounds, (line) => log(`memory, ${label}: ${line}`))
  const title = `One decision in memory, ${label}`
  return measurementOf(times, { title, unit: 'ns', reference: OURS, chart: title }, (time) => time)
}

async function heaps(plan: Plan): Promise<Measurement> {
  const tasks = Object.keys(memoryContenders)
    .filter((contender) => !FEW_KEYS_ONLY.includes(contender) && !contender.startsWith('floor'))
    .map((contender): [string, HeapTask] => [contender, { contender, keys: plan.manyKeys }])
  const bytes = await bytesOf('memory/heap', tasks, ['--expose-gc'])
  const chart = `Memory for one key, at ${plan.manyKeys.toLocaleString('en')} keys`
  const title = `${chart}, the key itself left out`
  return measurementOf(bytes, { title, unit: 'bytes', reference: OURS, chart }, (each) => each)
}

async function allocations(): Promise<Measurement> {
  const tasks = COUNTING.map((algorithm): [string, AllocationTask] => [
    `sluice ${algorithm}`,
    { algorithm },
  ])
  const bytes = await bytesOf('memory/allocation', tasks, NO_COLLECTIONS)
  const title = 'Allocated by one decision in memory, every field read'
  return measurementOf(bytes, { title, unit: 'bytes' }, (each) => each)
}

/**
 * The bytes of each contender's task, run once, and all at the same time: they hardly differ from one process
 * to the next, whatever else runs.
 */
async function bytesOf(
  script: string,
  tasks: readonly (readonly [contender: string, task: unknown])[],
  flags: readonly string[],
): Promise<Map<string, number[]>> {
  const found = tasks.map(async ([contender, task]): Promise<[string, number[]]> => {
    return [contender, [await runTask<number>(script, task, flags)]]
  })
  return new Map(await Promise.all(found))
}
