import { describe, expect, test } from '@jest/globals'
import { Temporal } from '@js-temporal/polyfill'
import { Calendar, type CalendarUnit } from './calendar.ts'
import { TimeZone } from './time-zone.ts'

const FROM = Temporal.PlainDate.from('2020-01-01')

/** Time zones, and for how many years each is compared. */
const zones: [string, number][] = [
  // An hour, in different weeks.
  ['Europe/Berlin', 5],
  ['America/New_York', 5],
  // Half an hour.
  ['Australia/Lord_Howe', 5],
  // None, at 5:45.
  ['Asia/Kathmandu', 5],
  // Clocks skip midnight.
  ['Asia/Beirut', 2],
  // Clocks repeat midnight.
  ['America/Havana', 2],
]

/** Each day, and the instant at which it begins by another library's arithmetic. */
function daysOf(zone: string, years: number) {
  const to = FROM.add({ years })
  const days: { day: number; weekday: number; last: number; start: number }[] = []
  for (let date = FROM; Temporal.PlainDate.compare(date, to) < 0; date = date.add({ days: 1 })) {
    const start = date.toZonedDateTime(zone).epochMilliseconds
    days.push({ day: date.day, weekday: date.dayOfWeek, last: date.daysInMonth, start })
  }
  return days
}

describe.each(zones)('%s, %i years', (zone, years) => {
  const days = daysOf(zone, years)
  test.each<[CalendarUnit, number]>([
    ['day', 1],
    ['week', 1],
    ['month', 1],
    ['month', 30],
    ['month', 31],
  ])('by the %s, from %i', (unit, anchor) => {
    const firsts = days.filter(({ day, weekday, last }) => {
      if (unit === 'week') return weekday === anchor
      return unit === 'day' || day === Math.min(anchor, last)
    })
    const expected = firsts.slice(1).map(({ start: end }, i) => ({ start: firsts[i]?.start, end }))
    const calendar = new Calendar(unit, new TimeZone(zone), anchor)
    expect(expected.map(({ start }) => calendar.at(start as number))).toEqual(expected)
    expect(expected.map(({ end }) => calendar.at(end - 1))).toEqual(expected)
  })
})

test('the 31st is the last day of a shorter month, and the 31st again after it', () => {
  const calendar = new Calendar('month', new TimeZone('UTC'), 31)
  expect(calendar.at(Date.UTC(2028, 1, 10))).toEqual({
    start: Date.UTC(2028, 0, 31),
    end: Date.UTC(2028, 1, 29),
  })
  expect(calendar.at(Date.UTC(2028, 2, 1))).toEqual({
    start: Date.UTC(2028, 1, 29),
    end: Date.UTC(2028, 2, 31),
  })
})

test('a day that clocks leave out belongs to no window', () => {
  // Samoa went from 29 to 31 December 2011.
  const calendar = new Calendar('day', new TimeZone('Pacific/Apia'), 1)
  const change = Date.UTC(2011, 11, 30, 10)
  expect(calendar.at(change - 1)).toEqual({ start: change - 86_400_000, end: change })
  expect(calendar.at(change)).toEqual({ start: change, end: change + 86_400_000 })
})

test('a window before the epoch', () => {
  const calendar = new Calendar('week', new TimeZone('UTC'), 1)
  expect(calendar.at(-1)).toEqual({ start: Date.UTC(1969, 11, 29), end: Date.UTC(1970, 0, 5) })
})

test('the name has the time zone as Intl writes it', () => {
  expect(new Calendar('month', new TimeZone('europe/berlin'), 31).name).toBe(
    'month:Europe/Berlin:31',
  )
})

test('a time zone that does not exist', () => {
  expect(() => new TimeZone('Europe/Atlantis')).toThrow(RangeError)
})
