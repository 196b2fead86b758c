import { expect, test } from '@jest/globals'
import { InProgress } from './in-progress.ts'

test('a client has something in progress until the last of its requests has ended', () => {
  const requests = new InProgress({} as never)
  requests.begin(0, 0, 100)
  requests.begin(10, 0, 20)
  requests.begin(20, 1, 5)
  expect([requests.fullIn(20, 0), requests.fullIn(20, 1), requests.fullIn(30, 1)]).toEqual([
    80, 5, 0,
  ])
  expect([requests.peak(0), requests.peak(1)]).toEqual([2, 1])
})
