import { describe, expect, test } from '@jest/globals'
import { replay } from '../testing/replay.ts'
import { tokenBucket } from './token-bucket.ts'
import { tokenBucketTraces } from './traces.ts'

describe('the TypeScript form follows the traces', () => {
  test.each(tokenBucketTraces)('$name', (trace) => {
    expect(replay(tokenBucket, trace)).toEqual(trace.steps.map((step) => step.expect))
  })
})
