import { describe, expect, test } from '@jest/globals'
import { replay } from '../testing/replay.ts'
import { concurrency } from './concurrency.ts'
import { concurrencyTraces } from './traces.ts'

describe('the TypeScript form follows the traces', () => {
  test.each(concurrencyTraces)('$name', (trace) => {
    expect(replay(concurrency, trace)).toEqual(trace.steps.map((step) => step.expect))
  })
})
