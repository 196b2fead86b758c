import { describe, expect, test } from '@jest/globals'
import { recorded } from './testing/recorded.ts'
import { replay } from './testing/replay.ts'

describe.each(recorded)('$algorithm.name in TypeScript follows the traces', (each) => {
  test.each(each.traces)('$name', (trace) => {
    expect(replay(each.algorithm, trace)).toEqual(trace.steps.map((step) => step.expect))
  })
})
