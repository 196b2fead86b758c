import { afterEach, expect, it, jest } from '@jest/globals'
import { turnClock } from './turn-clock.ts'

afterEach(() => {
  jest.restoreAllMocks()
})

const turn = () => new Promise((resolve) => setImmediate(resolve))

/** Asks until the clock stands still for the rest of the turn; gives what it says. */
function askOften(clock: () => number): number {
  for (let i = 0; i < 1_000_000; i += 1) clock()
  return clock()
}

it('reads the wall clock each time it is asked', () => {
  const clock = turnClock()
  const before = Date.now()
  const first = clock()
  expect(first).toBeGreaterThanOrEqual(before)
  while (Date.now() < first + 3);
  expect(clock()).toBeGreaterThanOrEqual(first + 3)
})

it('reads it no more until the turn ends, if the turn asks often', async () => {
  const clock = turnClock()
  const kept = askOften(clock)
  while (Date.now() < kept + 3);
  expect(clock()).toBe(kept)
  await Promise.resolve()
  expect(clock()).toBe(kept)
  await turn()
  expect(clock()).toBeGreaterThanOrEqual(kept + 3)
})

it('reads a clock that a test replaces in the same turn', () => {
  const clock = turnClock()
  askOften(clock)
  const fake = jest.spyOn(Date, 'now').mockReturnValue(1000)
  expect(askOften(clock)).toBe(1000)
  fake.mockReturnValue(2000)
  expect(clock()).toBe(2000)
  fake.mockRestore()
  expect(clock()).toBeGreaterThan(2000)
})

it('gives integer milliseconds', () => {
  expect(Number.isInteger(turnClock()())).toBe(true)
})
