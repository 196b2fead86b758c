import { expect, test } from '@jest/globals'
import { InProgress } from './in-progress.ts'

test('a client has something in progress until the last of its requests has ended', () => {
  const requests = new InProgress({} as never)
  const begin = (nowMs: number, client: number, durationMs: number) =>
    requests.count({
      ...{ place: 0, nowMs, client, cost: 1, admitted: true, delayMs: 0, resetMs: 0, durationMs },
    })
  begin(0, 0, 100_000)
  begin(10_000, 0, 20_000)
  begin(20_000, 1, 5000)
  expect(requests.keys.count).toBe(2)
  requests.keys.advance(26_000)
  expect(requests.keys.count).toBe(1)
  requests.keys.advance(101_000)
  expect(requests.keys.count).toBe(0)
  expect([requests.peak(0), requests.peak(1)]).toEqual([2, 1])
})
