import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { leakyBucket, PLACES } from '../leaky-bucket/model.ts'
import { gaps, replay } from '../testing/replayed.ts'
import { tokenBucket } from '../token-bucket/model.ts'
import { UNIT_MS } from './bucket.ts'

describe.each([
  ['token-bucket', tokenBucket],
  ['leaky-bucket', leakyBucket],
] as const)('%s', (algorithm, bucket) => {
  test('whatever comes, it draws the room that the limiter has', () => {
    fc.assert(
      fc.property(gaps, (times) => {
        const { clock, peek, send } = replay(algorithm)
        let state = bucket.untouched
        for (const gap of times) {
          clock.advance(gap)
          expect(Math.floor(bucket.at(state, clock()).room + 1e-9)).toBe(peek().remaining)
          state = bucket.answered(state, send())
        }
      }),
    )
  })

  test('if the fields show less room than was known, they are right', () => {
    const { send } = replay(algorithm)
    send()
    const answer = send()
    const { room } = bucket.answered(bucket.untouched, answer)
    expect(Math.floor(room)).toBe(answer.remaining)
  })
})

test('a delayed answer shows the room at the time when it was sent', () => {
  const { send } = replay('leaky-bucket')
  send()
  const sent = send()
  const answer = { ...sent, answeredAt: sent.sentAt + UNIT_MS }
  const state = leakyBucket.answered(leakyBucket.untouched, answer)
  expect(state.at).toBe(sent.sentAt)
  expect(leakyBucket.at(state, answer.answeredAt).room).toBe(Math.min(1 + PLACES, state.room + 1))
})
