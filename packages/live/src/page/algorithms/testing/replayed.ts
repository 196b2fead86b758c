import { createLimiter, type Decision, memoryStore } from '@sluice/core'
import { manualClock } from '@sluice/core/testing'
import fc from 'fast-check'
import { type Algorithm, windowLimits } from '../../../limits.ts'
import type { Answer } from '../../traffic/answer.ts'

/** For the tests: ms between requests, some of them within the same. */
export const gaps = fc.array(
  fc.oneof(fc.integer({ min: 0, max: 60 }), fc.integer({ max: 6000, min: 0 })),
  {
    minLength: 1,
    maxLength: 60,
  },
)

/** A real limiter on a clock of its own: what it answers, as a page reads it from the fields. */
export function replay(algorithm: keyof typeof windowLimits) {
  const clock = manualClock(1_800_000_000_123)
  const limiter = createLimiter({ ...windowLimits[algorithm], store: memoryStore({ clock }) })
  return {
    clock,
    /** The true state. */
    peek: (): Decision => limiter.peek('client'),
    send: (): Answer => answerOf(algorithm, limiter.consume('client')),
  }
}

function answerOf(
  algorithm: Algorithm,
  { allowed, limit, remaining, at, policies, retryAfterMs }: Decision,
): Answer {
  return {
    algorithm,
    number: 1,
    sentAt: at,
    answeredAt: at,
    status: allowed ? 200 : 429,
    fields: new Map(),
    limit,
    remaining,
    effectiveMs: Math.ceil((policies[0]?.effectiveMs ?? 0) / 1000) * 1000,
    retryAfterMs: allowed ? undefined : Math.ceil(retryAfterMs / 1000) * 1000,
  }
}
