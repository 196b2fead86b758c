import { describe, expect, it } from '@jest/globals'
import { MAX_DURATION_MS, parseDuration } from './duration.ts'

describe('parseDuration()', () => {
  it.each([
    [1, 1],
    [MAX_DURATION_MS, MAX_DURATION_MS],
    ['500ms', 500],
    ['1s', 1000],
    ['1.5s', 1500],
    ['1m', 60_000],
    ['15 minutes', 900_000],
    ['1 hour', 3_600_000],
    ['1h', 3_600_000],
    ['1d', 86_400_000],
    ['30 days', 2_592_000_000],
    ['1w', 604_800_000],
    ['1y', 31_557_600_000],
    ['10y', MAX_DURATION_MS],
  ])('reads %p as %i ms', (written, ms) => {
    expect(parseDuration('window', written)).toBe(ms)
  })

  it.each([0, -1, 0.5, Number.NaN, Infinity, MAX_DURATION_MS + 1, '0s', '-1m', '0.5ms', '10.1y'])(
    'refuses %p as out of range',
    (written) => {
      expect(() => parseDuration('window', written)).toThrow(
        expect.objectContaining({ code: 'SLUICE_OPTION_RANGE', received: written }),
      )
    },
  )

  it.each([
    ...['', ' ', '60', '60000', 'm', '1x', '1 fortnight', '1m30s', 'soon', `${'1'.repeat(50)}m`],
    ...[null, undefined, true, 5n, ['1m'], new Date(0), { ms: 1 }],
  ])('refuses %p as no duration', (written) => {
    expect(() => parseDuration('window', written)).toThrow(
      expect.objectContaining({ code: 'SLUICE_OPTION_TYPE' }),
    )
  })

  it('accepts 0 if that is the minimum', () => {
    expect(parseDuration('maxDelay', 0, 0)).toBe(0)
    expect(parseDuration('maxDelay', '0s', 0)).toBe(0)
    expect(() => parseDuration('maxDelay', -1, 0)).toThrow('from 0 ms')
  })
})
