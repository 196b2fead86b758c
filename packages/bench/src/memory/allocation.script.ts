import { setImmediate as turn } from 'node:timers/promises'
import { type AlgorithmName, createLimiter, type Decision } from '@sluice/core'
import { policies } from '../contenders/sluice.ts'
import { defineTask } from '../processes/task.ts'
import { makeKeys } from './keys.ts'

export interface AllocationTask {
  readonly algorithm: AlgorithmName
}

/** Bytes, per call of `consume`. */
export interface Allocation {
  readonly allocated: number
  /** Of those, what the caller has when all else is collected: the decision. */
  readonly decision: number
}

/** All of them fit into a young generation of 256 MB. */
const CALLS = 100_000
/** The first ones allocate more, until the compiler has done with them. */
const RUNS = 12

function heap(): number {
  return process.memoryUsage().heapUsed
}

/** Objects are multiples of 8 bytes; what is beyond is the share of the readings themselves. */
function perCall(bytes: number): number {
  return Math.round(bytes / CALLS / 8) * 8
}

/** Run with --expose-gc and a young generation of 256 MB, so that nothing is collected meanwhile. */
defineTask(async ({ algorithm }: AllocationTask): Promise<Allocation> => {
  const limiter = createLimiter({ policies: policies(algorithm, 1) })
  const keys = makeKeys(1000)
  const kept = new Array<Decision | undefined>(CALLS).fill(undefined)
  const run = () => {
    for (let i = 0; i < CALLS; i += 1) kept[i] = limiter.consume(keys[i % 1000] as string)
  }
  const measure = (): Allocation => {
    kept.fill(undefined)
    globalThis.gc?.()
    const before = heap()
    run()
    const after = heap()
    globalThis.gc?.()
    const collected = heap()
    return { allocated: perCall(after - before), decision: perCall(collected - before) }
  }
  let least = measure()
  for (let i = 1; i < RUNS; i += 1) {
    // What the compiler has made meanwhile is installed between turns.
    await turn()
    const found = measure()
    if (found.allocated <= least.allocated) least = found
  }
  if (kept.some((decision) => !decision?.allowed)) throw new Error('refused')
  return least
})
