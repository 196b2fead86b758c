import { expect, test } from '@jest/globals'
import { tokenBucket } from '../algorithms/token-bucket/model.ts'
import type { Answer } from './answer.ts'
import { HISTORY_MS, Lane } from './lane.ts'

function answer(sentAt: number, remaining: number, more: Partial<Answer> = {}): Answer {
  return {
    algorithm: 'token-bucket',
    number: 1,
    sentAt,
    answeredAt: sentAt + 1,
    status: 200,
    fields: new Map(),
    limit: 5,
    remaining,
    effectiveMs: 1000,
    retryAfterMs: undefined,
    ...more,
  }
}

function laneAfter(...answers: Answer[]) {
  const lane = new Lane('token-bucket', tokenBucket)
  for (const { sentAt } of answers) lane.sent(sentAt)
  for (const each of answers) lane.received(each)
  return lane
}

test('answers change the state, and are counted', () => {
  const lane = laneAfter(answer(10, 4), answer(20, 3), answer(30, 3, { status: 429 }))
  expect(Math.floor(lane.state.value.room)).toBe(3)
  expect(lane.admitted.value).toBe(2)
  expect(lane.peak.value.count).toBe(2)
  expect(lane.underWay.value).toEqual([])
})

test('what was sent earlier and comes later changes the count, but not the state', () => {
  const lane = laneAfter(answer(20, 3), answer(10, 4, { answeredAt: 40 }))
  expect(Math.floor(lane.state.value.room)).toBe(3)
  expect(lane.admitted.value).toBe(2)
})

test('a request without an answer is in progress', () => {
  const lane = laneAfter(answer(10, 4))
  lane.sent(20)
  lane.sent(20)
  lane.sent(30)
  expect(lane.underWay.value).toEqual([20, 20, 30])
  lane.received(answer(30, 3))
  expect(lane.underWay.value).toEqual([20, 20])
  lane.received(answer(20, 3))
  expect(lane.underWay.value).toEqual([20])
})

test('old answers are let go', () => {
  const lane = laneAfter(answer(0, 4), answer(HISTORY_MS, 4))
  expect(lane.answers.value).toHaveLength(1)
})

test('a new client has nothing', () => {
  const lane = laneAfter(answer(10, 4))
  lane.sent(20)
  lane.clear()
  expect(lane.state.value).toEqual(tokenBucket.untouched)
  expect([lane.answers.value, lane.underWay.value, lane.admitted.value]).toEqual([[], [], 0])
  expect(lane.peak.value.count).toBe(0)
})
