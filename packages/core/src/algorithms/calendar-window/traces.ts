import { admits, HOUR, refuses, settles, type Trace, traces } from '../testing/trace.ts'
import { Calendar } from './calendar.ts'
import { TimeZone } from './time-zone.ts'

// A window is a day, a week or a month of the time zone, however long that is. What is left is
// limit − used; while anything is used the quota is full again when the window ends.
const DAY = 24 * HOUR
const MOST = Number.MAX_SAFE_INTEGER
const berlin = new TimeZone('Europe/Berlin')

/** Three units a day, week or month, in steps from a moment on. */
function threeA(unit: 'day' | 'week' | 'month', from: number, anchor = 1) {
  const calendar = new Calendar(unit, berlin, anchor)
  return { limit: 3, windowMs: calendar.lengthMs, calendar, from }
}

/** A wait until the window ends. */
const until = (ms: number) => ({ resetMs: ms, effectiveMs: ms })
const refused = (ms: number) => ({ resetMs: ms, retryAfterMs: ms })

const mostADay = { ...threeA('day', Date.UTC(2027, 5, 1, 22)), limit: MOST }

export const calendarWindowTraces: readonly Trace[] = [
  ...traces(mostADay, {
    '2^53 − 1 a day, to the last unit': [
      admits(0, MOST - 1, { remaining: 1, ...until(DAY) }),
      refuses(0, 2, { remaining: 1, ...refused(DAY) }),
      admits(0, 1, { remaining: 0, ...until(DAY) }),
      settles(0, { delta: MOST, chargedAt: 0 }, { remaining: 0, resetMs: DAY }),
      settles(0, { delta: -1, chargedAt: 0 }, { remaining: 1, resetMs: DAY }),
      settles(0, { delta: -MOST, chargedAt: 0 }, { remaining: MOST, resetMs: 0 }),
      admits(DAY, MOST, { remaining: 0, ...until(DAY) }),
    ],
  }),
  ...traces(threeA('day', Date.UTC(2027, 9, 30, 22)), {
    'a day of 25 hours: clocks go back': [
      admits(0, 3, { remaining: 0, ...until(25 * HOUR) }),
      refuses(24 * HOUR, 1, { remaining: 0, ...refused(HOUR) }),
      admits(25 * HOUR, 3, { remaining: 0, ...until(DAY) }),
    ],
  }),
  ...traces(threeA('month', Date.UTC(2027, 0, 30, 23), 31), {
    'a month from the 31st ends with February': [
      admits(0, 3, { remaining: 0, ...until(28 * DAY) }),
      refuses(28 * DAY - 1, 1, { remaining: 0, ...refused(1) }),
      admits(28 * DAY, 1, { remaining: 2, ...until(31 * DAY - HOUR) }),
    ],
  }),
  ...traces(threeA('week', Date.UTC(2027, 5, 30, 21, 59), 4), {
    'a week from Thursday': [
      admits(0, 1, { remaining: 2, ...until(60_000) }),
      admits(60_000, 1, { remaining: 2, ...until(7 * DAY) }),
    ],
  }),
  ...traces(threeA('day', Date.UTC(2027, 5, 1, 21)), {
    'a correction counts only in the window that was charged': [
      admits(0, 3, { remaining: 0, ...until(HOUR) }),
      settles(1, { delta: -2, chargedAt: 0 }, { remaining: 2, resetMs: HOUR - 1 }),
      admits(HOUR, 1, { remaining: 2, ...until(DAY) }),
      settles(HOUR + 1, { delta: -1, chargedAt: 0 }, { remaining: 2, resetMs: DAY - 1 }),
      settles(HOUR + 1, { delta: 5, chargedAt: HOUR }, { remaining: 0, resetMs: DAY - 1 }),
      settles(HOUR + 1, { delta: -6, chargedAt: HOUR }, { remaining: 3, resetMs: 0 }),
    ],
  }),
  ...traces(threeA('day', Date.UTC(2027, 5, 1, 22)), {
    'the clock steps back over midnight: what was counted counts in the day it is then': [
      admits(0, 3, { remaining: 0, ...until(DAY) }),
      refuses(-HOUR, 1, { remaining: 0, ...refused(HOUR) }),
      admits(0, 1, { remaining: 2, ...until(DAY) }),
    ],
  }),
]
