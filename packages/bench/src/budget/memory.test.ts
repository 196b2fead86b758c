// What must not grow unnoticed, and does not depend on a clock. The bounds are a little above what
// was measured when they were set; lower them when things get smaller.

import { describe, expect, it } from '@jest/globals'
import { COUNTING } from '../contenders/sluice.ts'
import type { Allocation, AllocationTask } from '../memory/allocation.script.ts'
import type { Speed, SpeedTask } from '../memory/speed.script.ts'
import { NO_COLLECTIONS, runTaskFromSources } from '../processes/run-task.ts'

describe.each(COUNTING)('a decision in memory, %s', (algorithm) => {
  it('allocates no more than the decision, and that is small', async () => {
    const task: AllocationTask = { algorithm }
    const found = await runTaskFromSources<Allocation>('allocation', task, NO_COLLECTIONS)
    expect(found.allocated).toBeLessThanOrEqual(found.decision)
    expect(found.decision).toBeLessThanOrEqual(320)
  })
})

it('a key takes few bytes, 32 of them its own copy of a key like these', async () => {
  const contender = 'sluice sliding-window'
  const task: SpeedTask = { contender, keys: 1_000_000, warmUpMs: 1, measuredMs: 1 }
  const { heapPerKey } = await runTaskFromSources<Speed>('speed', task, ['--expose-gc'])
  expect(heapPerKey).toBeLessThanOrEqual(94)
})
