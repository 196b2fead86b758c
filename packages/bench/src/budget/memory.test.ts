// What must not grow unnoticed, and does not depend on a clock. The bounds are a little above what
// was measured when they were set; lower them when things get smaller.

import { expect, it } from '@jest/globals'
import { COUNTING } from '../contenders/sluice.ts'
import type { AllocationTask } from '../memory/allocation.script.ts'
import type { HeapTask } from '../memory/heap.script.ts'
import { NO_COLLECTIONS, runTaskFromSources } from '../processes/run-task.ts'

/** Bytes. In some processes the compiler keeps one number more as an object of its own, of 16. */
const DECISION = 352

it.each(COUNTING)('a decision in memory allocates little, %s', async (algorithm) => {
  const task: AllocationTask = { algorithm }
  const bytes = await runTaskFromSources<number>('memory/allocation', task, NO_COLLECTIONS)
  expect(bytes).toBeLessThanOrEqual(DECISION)
})

it('a decision allocates nothing for events that nobody listens to', async () => {
  const run = (task: Partial<AllocationTask>) =>
    runTaskFromSources<number>(
      'memory/allocation',
      { algorithm: 'sliding-window', ...task },
      NO_COLLECTIONS,
    )
  expect(await run({ listener: 'left' })).toBeLessThanOrEqual(DECISION)
  expect(await run({ alerts: true })).toBeLessThanOrEqual(DECISION)
  // Several times as much: it needs no compiled code to show, and fills the heap.
  expect(await run({ listener: 'stays', runs: 3 })).toBeGreaterThan(4 * DECISION)
})

it('a key takes few bytes, 32 of them its own copy of a key like these', async () => {
  const task: HeapTask = { contender: 'sluice sliding-window', keys: 250_000 }
  const bytes = await runTaskFromSources<number>('memory/heap', task, ['--expose-gc'])
  expect(bytes).toBeLessThanOrEqual(94)
})
