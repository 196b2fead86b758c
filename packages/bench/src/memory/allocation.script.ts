import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { setImmediate as turn } from 'node:timers/promises'
import { type AlgorithmName, createLimiter, type Decision } from '@sluice/core'
import { policies, readAll } from '../contenders/sluice.ts'
import { defineTask } from '../processes/task.ts'
import { makeKeys } from './keys.ts'

export interface AllocationTask {
  readonly algorithm: AlgorithmName
  /** The subscribers of events. Default: none. */
  readonly listener?: 'left' | 'stays'
  /** Whether the policy has thresholds. */
  readonly alerts?: true
  /** The least of so many runs. Default: 12. The first ones allocate more, until the compiler has done with them. */
  readonly runs?: number
}

const CHANNELS = [
  'sluice:decision',
  'sluice:ban',
  'sluice:threshold',
  'tracing:sluice:consume:start',
]

/** All of them fit into a young generation of 256 MB. */
const CALLS = 100_000

function heap(): number {
  return process.memoryUsage().heapUsed
}

/** Objects are multiples of 8 bytes; what is beyond is the share of the readings themselves. */
function perCall(bytes: number): number {
  return Math.round(bytes / CALLS / 8) * 8
}

/**
 * Bytes that one call of `consume` allocates, with every field of the decision read. The decisions
 * are kept, as by an application, so that the compiler leaves none of them out.
 *
 * Run with --expose-gc and a young generation of 256 MB, so that nothing is collected meanwhile.
 */
defineTask(async ({ algorithm, listener, alerts, runs = 12 }: AllocationTask): Promise<number> => {
  const ignore = () => {}
  for (const name of CHANNELS) {
    if (listener !== undefined) subscribe(name, ignore)
    if (listener === 'left') unsubscribe(name, ignore)
  }
  const alertAt = alerts && [0.8, 1]
  const limiter = createLimiter({
    policies: policies(algorithm, 1).map((policy) => ({ ...policy, alertAt })),
  })
  const keys = makeKeys(1000)
  const kept = new Array<Decision | undefined>(CALLS).fill(undefined)
  const run = () => {
    let sum = 0
    for (let i = 0; i < CALLS; i += 1) {
      const decision = limiter.consume(keys[i % 1000] as string)
      sum += readAll(decision)
      kept[i] = decision
    }
    if (Number.isNaN(sum)) throw new Error('a decision has no numbers')
  }
  let least = Infinity
  for (let i = 0; i < runs; i += 1) {
    kept.fill(undefined)
    globalThis.gc?.()
    const before = heap()
    run()
    least = Math.min(least, perCall(heap() - before))
    // The engine installs compiled code between turns.
    await turn()
  }
  return least
})
