import { describe, expect, test } from '@jest/globals'
import { replay } from '../testing/replay.ts'
import { fixedWindow } from './fixed-window.ts'
import { fixedWindowTraces } from './traces.ts'

describe('the TypeScript form follows the traces', () => {
  test.each(fixedWindowTraces)('$name', (trace) => {
    expect(replay(fixedWindow, trace)).toEqual(trace.steps.map((step) => step.expect))
  })
})
