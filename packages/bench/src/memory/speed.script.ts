import { type Count, memoryContenders } from '../contenders/memory.ts'
import { defineTask } from '../processes/task.ts'
import { makeKeys, mix } from './keys.ts'

export interface SpeedTask {
  readonly contender: string
  /** A multiple of 10,000. */
  readonly keys: number
  readonly warmUpMs: number
  readonly measuredMs: number
}

export interface Speed {
  readonly nanoseconds: number
  /** What the process holds more than before, its own copies of the keys included. */
  readonly heapPerKey: number
}

/** Keys between two looks at the time; their number is a multiple of it. */
const STRETCH = 10_000

/** Where the last call of `time` has stopped. */
let next = 0

/** Counts keys in their order, from the first again after the last, until the time is up; gives ns. */
async function time(count: Count, keys: readonly string[], forMs: number): Promise<number> {
  const begun = performance.now()
  let elapsed = 0
  let counted = 0
  while (elapsed < forMs) {
    await countAll(count, keys, next, STRETCH)
    next = (next + STRETCH) % keys.length
    counted += STRETCH
    elapsed = performance.now() - begun
  }
  return (elapsed * 1e6) / counted
}

async function countAll(count: Count, keys: readonly string[], from: number, many: number) {
  let sum = 0
  for (let i = from; i < from + many; i += 1) {
    const result = count(keys[i] as string)
    sum += typeof result === 'number' ? result : await result
  }
  if (Number.isNaN(sum)) throw new Error('a count gave no number')
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
  await countAll(count, inserted, 0, inserted.length)
  const heapPerKey = (heldBytes() - before) / task.keys
  await time(count, asked, task.warmUpMs)
  globalThis.gc?.()
  return { nanoseconds: await time(count, asked, task.measuredMs), heapPerKey }
})
