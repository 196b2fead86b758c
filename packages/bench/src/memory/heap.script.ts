import { memoryContenders } from '../contenders/memory.ts'
import { defineTask } from '../processes/task.ts'
import { countAll } from './count-all.ts'
import { makeKeys } from './keys.ts'

export interface HeapTask {
  readonly contender: string
  readonly keys: number
}

function heldBytes(): number {
  // The first one leaves buffers to a sweep of their own, which the second waits for.
  globalThis.gc?.()
  globalThis.gc?.()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

/**
 * Bytes for each key that the process holds more than before, its own copies of the keys included.
 * Run with --expose-gc.
 */
defineTask(async (task: HeapTask): Promise<number> => {
  const make = memoryContenders[task.contender]
  if (make === undefined) throw new Error(`no contender ${task.contender}`)
  const keys = makeKeys(task.keys)
  const count = make()
  const before = heldBytes()
  await countAll(count, keys)
  return (heldBytes() - before) / task.keys
})
