import { expect, test } from '@jest/globals'
import { LogEntry } from '../log-entry.ts'
import { durationField, readDuration, setDuration } from './duration.ts'

test.each<[string, unknown, number | undefined]>([
  ['s', '0.005', 5],
  ['s', '2', 2000],
  ['s', 1.5, 1500],
  ['ms', '"17"', 17],
  ['us', '1499', 1],
  ['s', '-', undefined],
  ['s', '-1', undefined],
  ['s', '0.1, 0.2', undefined],
  ['s', '1e9', undefined],
  ['s', Infinity, undefined],
  ['s', undefined, undefined],
])('in %s %p is %p ms', (unit, value, ms) => {
  expect(readDuration(value, durationField(unit))).toBe(ms)
})

test.each([
  ['start', 5000],
  ['end', 4750],
] as const)('a line that is written at the %s of its request', (loggedAt, time) => {
  const entry = Object.assign(new LogEntry(), { time: 5000 })
  setDuration(entry, 250, durationField('ms', loggedAt))
  expect(entry).toMatchObject({ time, durationMs: 250 })
})

test('a field may have colons in its name', () => {
  expect(durationField('a:b:ms', 'start')).toEqual({
    field: 'a:b',
    msPerUnit: 1,
    loggedAt: 'start',
  })
})

test.each(['', 'minutes', 'request_time', ':s', 'request_time:'])('%p is no duration', (text) => {
  expect(() => durationField(text)).toThrow('--duration: expected a unit')
})
