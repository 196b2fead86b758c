import { describe, expect, test } from '@jest/globals'
import { replay } from '../testing/replay.ts'
import { calendarWindow } from './calendar-window.ts'
import { calendarWindowTraces } from './traces.ts'

describe('the TypeScript form follows the traces', () => {
  test.each(calendarWindowTraces)('$name', (trace) => {
    expect(replay(calendarWindow, trace)).toEqual(trace.steps.map((step) => step.expect))
  })
})
