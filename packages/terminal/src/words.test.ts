import { describe, expect, it } from '@jest/globals'
import { count, duration, listed, number, percent } from './words.ts'

describe('words', () => {
  it.each([
    [0, '0 %'],
    [0.00001, '< 0.01 %'],
    [0.0004, '0.04 %'],
    [0.0371, '3.71 %'],
    [0.123, '12.3 %'],
    [0.5, '50 %'],
    [0.9999, '99.99 %'],
    [0.99999, '> 99.99 %'],
    [1, '100 %'],
    [1.654, '165 %'],
  ])('%d is %s', (share, text) => {
    expect(percent(share)).toBe(text)
  })

  it.each([
    [0, '0 s'],
    [999, '999 ms'],
    [1000, '1 s'],
    [59_200, '59 s 200 ms'],
    [60_000, '1 min'],
    [5_430_000, '1 h 30 min'],
    [86_400_000, '1 d'],
  ])('%d ms is %s', (ms, text) => {
    expect(duration(ms)).toBe(text)
  })

  it.each([0, 7, 999, 1000, 12_345, 1_234_567, 1e12, 0.5, 1234.5, 1234.56789, -1000, -100])(
    '%d is written as Intl.NumberFormat writes it',
    (value) => {
      expect(number(value)).toBe(new Intl.NumberFormat('en-GB').format(value))
    },
  )

  it('counts and lists', () => {
    expect([number(1_234_567), count(1, 'client'), count(0, 'client')]).toEqual([
      '1,234,567',
      '1 client',
      '0 clients',
    ])
    expect([[], ['a'], ['a', 'b'], ['a', 'b', 'c']].map(listed)).toEqual([
      '',
      'a',
      'a and b',
      'a, b and c',
    ])
  })
})
