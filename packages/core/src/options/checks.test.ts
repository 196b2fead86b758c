import { describe, expect, it } from '@jest/globals'
import {
  checkBoolean,
  checkClock,
  checkFunction,
  checkInteger,
  checkObject,
  checkOneOf,
  checkShare,
} from './checks.ts'

const code = (value: string) => expect.objectContaining({ code: `SLUICE_OPTION_${value}` })

describe('checkInteger()', () => {
  it.each([1, 2, 10])('returns %p', (value) => {
    expect(checkInteger('limit', value, 1, 10)).toBe(value)
  })

  it.each([0, 11, 1.5, Number.NaN, Infinity, -Infinity])('refuses %p as out of range', (value) => {
    expect(() => checkInteger('limit', value, 1, 10)).toThrow(code('RANGE'))
  })

  it('says once what it expects, where the fix says it', () => {
    expect(() => checkInteger('limit', 11, 1, 10)).toThrow(
      'limit: Give limit as an integer from 1 to 10. Received 11 (number). (SLUICE_OPTION_RANGE',
    )
  })

  it.each(['5', '', null, undefined, true, 5n, [5], { valueOf: () => 5 }, new Number(5)])(
    'coerces nothing: %p is of the wrong type',
    (value) => {
      expect(() => checkInteger('limit', value, 1, 10)).toThrow(code('TYPE'))
    },
  )
})

describe('the other checks', () => {
  it('return a correct value', () => {
    const clock = () => 1_800_000_000_000
    expect(checkShare('share', 0)).toBe(0)
    expect(checkShare('share', 1)).toBe(1)
    expect(checkOneOf('status', 503, [429, 503])).toBe(503)
    expect(checkBoolean('dryRun', false)).toBe(false)
    expect(checkFunction('clock', clock, '')).toBe(clock)
    expect(checkClock(clock)).toBe(clock)
    expect(checkObject('options', clock.prototype ?? {}, 'options')).toEqual({})
  })

  it.each([-0.01, 1.01, Number.NaN])('checkShare() refuses %p as out of range', (value) => {
    expect(() => checkShare('share', value)).toThrow(code('RANGE'))
  })

  it.each(['0.1', null, undefined])('checkShare() refuses %p as of the wrong type', (value) => {
    expect(() => checkShare('share', value)).toThrow(code('TYPE'))
  })

  it.each(['true', 0, 1, null, undefined])('checkBoolean() refuses %p', (value) => {
    expect(() => checkBoolean('dryRun', value)).toThrow(code('TYPE'))
  })

  it.each([null, undefined, [], 'text', 5, () => {}])('checkObject() refuses %p', (value) => {
    expect(() => checkObject('options', value, 'options')).toThrow(code('TYPE'))
  })

  it.each([[() => 1.5], [() => -1], [() => Number.NaN], [() => '5'], [() => 1e300]])(
    'checkClock() refuses a function that does not return integer milliseconds',
    (clock) => {
      expect(() => checkClock(clock)).toThrow(expect.objectContaining({ option: 'clock()' }))
    },
  )
})
