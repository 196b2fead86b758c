import { describe, expect, test } from '@jest/globals'
import { replay } from '../testing/replay.ts'
import { slidingLog } from './sliding-log.ts'
import { slidingLogTraces } from './traces.ts'

describe('the TypeScript form follows the traces', () => {
  test.each(slidingLogTraces)('$name', (trace) => {
    expect(replay(slidingLog, trace)).toEqual(trace.steps.map((step) => step.expect))
  })
})
