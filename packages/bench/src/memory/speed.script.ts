import { type Count, memoryContenders } from '../contenders/memory.ts'
import { defineTask } from '../processes/task.ts'
import { makeKeys, mix } from './keys.ts'

export interface SpeedTask {
  readonly contender: string
  readonly keys: number
  readonly warmUpMs: number
  readonly measuredMs: number
}

export interface Speed {
  readonly nanoseconds: number
  /** What the process holds more than before, beside the keys themselves. */
  readonly heapPerKey: number
}

/** Passes over all keys until the time is up; gives the ns of one count. */
async function time(count: Count, keys: readonly string[], forMs: number): Promise<number> {
  let passes = 0
  let sum = 0
  const begun = performance.now()
  let elapsed = 0
  do {
    for (let i = 0; i < keys.length; i += 1) {
      const result = count(keys[i] as string)
      sum += typeof result === 'number' ? result : await result
    }
    passes += 1
    elapsed = performance.now() - begun
  } while (elapsed < forMs)
  if (Number.isNaN(sum)) throw new Error('a count gave no number')
  return (elapsed * 1e6) / (passes * keys.length)
}

function heldBytes(): number {
  // The first one leaves buffers to a sweep of their own, which the second waits for.
  globalThis.gc?.()
  globalThis.gc?.()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

/** Run with --expose-gc. */
defineTask(async (task: SpeedTask): Promise<Speed> => {
  const contender = memoryContenders[task.contender]
  if (contender === undefined) throw new Error(`no contender ${task.contender}`)
  const inserted = makeKeys(task.keys)
  const asked = mix(inserted)
  const count = contender()
  const before = heldBytes()
  await time(count, inserted, 0)
  const heapPerKey = (heldBytes() - before) / task.keys
  await time(count, asked, task.warmUpMs)
  globalThis.gc?.()
  return { nanoseconds: await time(count, asked, task.measuredMs), heapPerKey }
})
