import { describe, expect, test } from '@jest/globals'
import { replay } from '../testing/replay.ts'
import { leakyBucket } from './leaky-bucket.ts'
import { leakyBucketTraces } from './traces.ts'

describe('the TypeScript form follows the traces', () => {
  test.each(leakyBucketTraces)('$name', (trace) => {
    expect(replay(leakyBucket, trace)).toEqual(trace.steps.map((step) => step.expect))
  })
})
