import { afterEach, beforeEach, expect, jest, test } from '@jest/globals'
import { ServerClock } from './server-clock.ts'

const NOW = 1_800_000_000_400

beforeEach(() => {
  jest.useFakeTimers({ now: NOW })
})
afterEach(() => {
  jest.useRealTimers()
})

/** The field `Date` of a server whose clock is so far ahead, ms. */
const dateOf = (aheadMs: number) => new Date(Date.now() + aheadMs).toUTCString()

/** Responses that each take 10 ms, over a second and more. */
function ask(clock: ServerClock, aheadMs: number): void {
  for (let i = 0; i < 100; i += 1) {
    const sentAt = Date.now()
    jest.advanceTimersByTime(5)
    const date = dateOf(aheadMs)
    jest.advanceTimersByTime(5)
    clock.observe(date, sentAt, Date.now())
    jest.advanceTimersByTime(13)
  }
}

test.each([0, 300, -300, 90_000, -90_000, 3_600_000])(
  'follows a server that is %i ms ahead, to about the time of a response',
  (aheadMs) => {
    const clock = new ServerClock()
    ask(clock, aheadMs)
    expect(Math.abs(clock.now() - Date.now() - aheadMs)).toBeLessThanOrEqual(30)
  },
)

test('is the clock of the process, to the millisecond, if the responses agree with it', () => {
  const clock = new ServerClock()
  expect(clock.now()).toBe(NOW)
  ask(clock, 0)
  expect(clock.now()).toBe(Date.now())
})

test('the first response is enough for less than a second', () => {
  const clock = new ServerClock()
  clock.observe(dateOf(90_000), NOW - 10, NOW)
  expect(Math.abs(clock.now() - NOW - 90_000)).toBeLessThan(1000)
})

test('follows a clock that is set', () => {
  const clock = new ServerClock()
  ask(clock, 0)
  ask(clock, -7000)
  expect(Math.abs(clock.now() - Date.now() + 7000)).toBeLessThanOrEqual(30)
})

test.each([undefined, '', 'yesterday'])('a response with the date %j says nothing', (date) => {
  const clock = new ServerClock()
  clock.observe(date, NOW, NOW)
  expect(clock.now()).toBe(NOW)
})
