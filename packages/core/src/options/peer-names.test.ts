import { expect, test } from '@jest/globals'
import { hereInsteadOf } from './peer-names.ts'

test.each([
  ['max', 5, 'limit: 5'],
  ['max', () => 5, 'limit'],
  ['points', 10, 'limit: 10'],
  ['windowMs', 60_000, 'window: 60_000'],
  ['windowMs', 900, 'window: 900'],
  ['windowMs', 86_400_000, 'window: 86_400_000'],
  ['timeWindow', '1 minute', "window: '1 minute'"],
  ['timeWindow', () => 5, 'window'],
  ['nameSpace', 'may be a secret', 'prefix'],
  ['throw', true, "respond: 'throw'"],
])('%s: %p is %s here', (option, value, here) => {
  expect(hereInsteadOf(option, value)).toBe(here)
})

test.each(['keyGenerator', 'allowList', 'skipOnError', 'errorResponseBuilder', 'duration'])(
  '%s has a name here',
  (option) => {
    expect(hereInsteadOf(option, undefined)).toBeDefined()
  },
)

test.each(['limt', 'constructor', 'toString', '__proto__'])('%s is no such name', (option) => {
  expect(hereInsteadOf(option, 5)).toBeUndefined()
})
