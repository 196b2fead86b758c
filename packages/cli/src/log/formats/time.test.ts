import { describe, expect, it } from '@jest/globals'
import { readTime, whyOutOfReach } from './time.ts'

describe('readTime', () => {
  it.each([
    [1_795_269_630, 1_795_269_630_000],
    [1_795_269_630.5, 1_795_269_630_500],
    ['1795269630.123', 1_795_269_630_123],
    [1_795_269_630_123, 1_795_269_630_123],
    ['1795269630123', 1_795_269_630_123],
    [0, 0],
    ['2026-11-21T14:00:30Z', 1_795_269_630_000],
    ['2026-11-21T14:00:30.250Z', 1_795_269_630_250],
    ['2026-11-21T16:00:30+02:00', 1_795_269_630_000],
    ['2026-11-21T16:00:30+0200', 1_795_269_630_000],
    ['2026-11-21T16:00:30+02', 1_795_269_630_000],
    ['2026-11-21 14:00:30,250', 1_795_269_630_250],
    ['2026-11-21T14:00', 1_795_269_600_000],
    ['2026-11-21', 1_795_219_200_000],
  ])('reads %p, without a zone as UTC', (value, expected) => {
    expect(readTime(value)).toBe(expected)
  })

  it('reads seconds to their last millisecond', () => {
    const all = Array.from({ length: 5000 }, (_, i) => i)
    expect(all.map((ms) => readTime(ms / 1000))).toEqual(all)
  })

  it.each([
    '',
    'yesterday',
    '21/11/2026',
    '2026-13-01',
    '12:00',
    '--5',
    -1e15,
    1e15,
    Number.NaN,
    null,
    {},
  ])('refuses %p', (value) => {
    expect(readTime(value)).toBeNaN()
  })

  it('rejects times that are out of range', () => {
    const times = ['1969-12-31T23:59:59.999Z', -5, '-0.001', 0, 1e14 - 1, '9999-01-01']
    const before = 'the time is before 1970'
    const after = 'the time is after the year 5138'
    const expected = [before, before, before, undefined, undefined, after]
    expect(times.map((time) => whyOutOfReach(readTime(time)))).toEqual(expected)
  })

  it('does not depend on where it runs', () => {
    expect(new Date().getTimezoneOffset()).not.toBe(0)
    expect(readTime('2026-11-21T14:00:30')).toBe(1_795_269_630_000)
  })
})
