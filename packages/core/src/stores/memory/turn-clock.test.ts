import { expect, it } from '@jest/globals'
import { turnClock } from './turn-clock.ts'

const turn = () => new Promise((resolve) => setImmediate(resolve))

it('reads the wall clock once a turn of the event loop', async () => {
  const clock = turnClock()
  const before = Date.now()
  const first = clock()
  expect(first).toBeGreaterThanOrEqual(before)
  while (Date.now() < first + 3);
  expect(clock()).toBe(first)
  await Promise.resolve()
  expect(clock()).toBe(first)
  await turn()
  expect(clock()).toBeGreaterThanOrEqual(first + 3)
})

it('gives integer milliseconds', () => {
  expect(Number.isInteger(turnClock()())).toBe(true)
})
