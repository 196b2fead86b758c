import { type Count, memoryContenders } from '../contenders/memory.ts'
import { defineContender } from '../processes/task.ts'
import { countAll } from './count-all.ts'
import { makeKeys, mix } from './keys.ts'

export interface SpeedTask {
  readonly contender: string
  /** A multiple of 10,000. */
  readonly keys: number
  readonly warmUpMs: number
  readonly measuredMs: number
}

/** Keys between two looks at the CPU time; their number is a multiple of it. */
const STRETCH = 10_000

/** Where the last call of `time` has stopped. */
let next = 0

/**
 * Counts keys in their order, from the first again after the last, until the process has used so
 * much CPU time; gives ns for each count. A clock on the wall would count other processes too.
 */
async function time(count: Count, keys: readonly string[], forMs: number): Promise<number> {
  const begun = process.cpuUsage()
  let micros = 0
  let counted = 0
  while (micros < forMs * 1000) {
    await countAll(count, keys, next, STRETCH)
    next = (next + STRETCH) % keys.length
    counted += STRETCH
    const { user, system } = process.cpuUsage(begun)
    micros = user + system
  }
  return (micros * 1000) / counted
}

defineContender(async (task: SpeedTask) => {
  const make = memoryContenders[task.contender]
  if (make === undefined) throw new Error(`no contender ${task.contender}`)
  const inserted = makeKeys(task.keys)
  const asked = mix(inserted)
  const count = make()
  await countAll(count, inserted)
  await time(count, asked, task.warmUpMs)
  return () => time(count, asked, task.measuredMs)
})
