import { describe, expect, test } from '@jest/globals'
import { replay } from '../testing/replay.ts'
import { slidingWindow } from './sliding-window.ts'
import { slidingWindowTraces } from './traces.ts'

describe('the TypeScript form follows the traces', () => {
  test.each(slidingWindowTraces)('$name', (trace) => {
    expect(replay(slidingWindow, trace)).toEqual(trace.steps.map((step) => step.expect))
  })
})
