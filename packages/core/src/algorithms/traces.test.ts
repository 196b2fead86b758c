import { describe, expect, test } from '@jest/globals'
import type { Algorithm, Outcome } from './algorithm.ts'
import { recorded } from './testing/recorded.ts'
import { SoleKey } from './testing/sole-key.ts'
import type { Trace } from './testing/trace.ts'

/** Replays a trace with the TypeScript form, and returns its results in the form of the trace's expectations. */
function replay(algorithm: Algorithm, trace: Trace): Partial<Outcome>[] {
  const { from } = trace
  const key = new SoleKey(algorithm.compile(trace.params))
  return trace.steps.map((step) => {
    const now = from + step.at
    if ('cost' in step) return key.consume(now, step.cost, step.slot)
    return key.settle(now, step.delta, from + step.chargedAt, step.slot ?? step.remaining)
  })
}

describe.each(recorded)('$algorithm.name in TypeScript follows the traces', (each) => {
  test.each(each.traces)('$name', (trace) => {
    expect(replay(each.algorithm, trace)).toEqual(trace.steps.map((step) => step.expect))
  })
})
