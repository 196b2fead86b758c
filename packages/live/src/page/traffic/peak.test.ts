import { expect, test } from '@jest/globals'
import type { Algorithm } from '../../limits.ts'
import type { Answer } from './answer.ts'
import { none, peakAfter } from './peak.ts'

/** Answers of requests that were sent at these moments and took so long. */
function answers(times: number[], tookMs = 0, algorithm: Algorithm = 'sliding-log'): Answer[] {
  return times.map((sentAt) => ({ algorithm, sentAt, answeredAt: sentAt + tookMs }) as Answer)
}

function peakOf(all: Answer[]) {
  return all.reduce((peak, _, i) => peakAfter(peak, all.slice(0, i + 1)), none)
}

test('nothing came', () => {
  expect(peakAfter(none, [])).toEqual({ count: 0, from: 0 })
})

test('a window does not hold its own length', () => {
  expect(peakOf(answers([0, 9999]))).toEqual({ count: 2, from: 0 })
  expect(peakOf(answers([0, 10_000]))).toEqual({ count: 1, from: 0 })
})

test('the densest span is kept, also when it is over', () => {
  expect(peakOf(answers([0, 9000, 9100, 9200, 30_000]))).toEqual({ count: 4, from: 0 })
  expect(peakOf(answers([0, 15_000, 15_100, 50_000]))).toEqual({ count: 2, from: 15_000 })
})

test('requests that may have been decided a window apart do not count together', () => {
  expect(peakOf(answers([0, 9990], 20)).count).toBe(1)
  expect(peakOf(answers([0, 9970], 20)).count).toBe(2)
})

test('in the leaky bucket it counts from when its turn came, not from when it was sent', () => {
  expect(peakOf(answers([0, 9000], 3000, 'leaky-bucket'))).toEqual({ count: 2, from: 2900 })
})
