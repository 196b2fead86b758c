import { afterEach, beforeEach, expect, jest, test } from '@jest/globals'
import { createLimiter } from '../index.ts'

const warned = jest.fn<(message: string, options: { type: string; code: string }) => void>()

beforeEach(() => {
  jest.spyOn(process, 'emitWarning').mockImplementation(warned as never)
  warned.mockClear()
})

afterEach(() => {
  jest.restoreAllMocks()
})

const create = (window: number | `${number}ms` | 'day') =>
  createLimiter({ limit: 10, window }).close()

test('a window below a second, without a unit, causes a warning once for each option and value', () => {
  create(15)
  create(15)
  create(900)
  createLimiter({ policies: [{ name: 'burst', limit: 10, window: 15 }] }).close()
  expect(warned.mock.calls.map(([message]) => message.slice(0, message.indexOf(' or ')))).toEqual([
    "Write window: '15s'",
    "Write window: '900s'",
    "Write policies[0].window: '15s'",
  ])
  expect(warned).toHaveBeenCalledWith(expect.anything(), {
    type: 'SluiceWarning',
    code: 'SLUICE_WINDOW_SHORT',
  })
})

test('so do the durations of a ban', () => {
  const limiter = { limit: 10, window: '1m' } as const
  createLimiter({ ...limiter, ban: { after: 3, within: 60, for: ['1m', 600] } }).close()
  expect(warned.mock.calls.map(([message]) => message.slice(0, message.indexOf(' or ')))).toEqual([
    "Write ban.within: '60s'",
    "Write ban.for[1]: '600s'",
  ])
})

test('a window with a unit, or of a second and more, causes none', () => {
  create('15ms')
  create(1000)
  create('day')
  expect(() => create(0)).toThrow()
  expect(warned).not.toHaveBeenCalled()
})
