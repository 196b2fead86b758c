import { describe, expect, it } from '@jest/globals'
import { MAX_DURATION_MS, parseDuration, spokenDuration } from './duration.ts'

describe('parseDuration()', () => {
  it.each([
    [1, 1],
    [MAX_DURATION_MS, MAX_DURATION_MS],
    ['500ms', 500],
    ['2 milliseconds', 2],
    ['3msecs', 3],
    ['1s', 1000],
    ['1.5s', 1500],
    // As floating-point numbers 1004.9999999999999.
    ['1.005s', 1005],
    ['10 sec', 10_000],
    ['1m', 60_000],
    ['5min', 300_000],
    ['15 minutes', 900_000],
    ['1 hour', 3_600_000],
    ['1h', 3_600_000],
    ['2 hrs', 7_200_000],
    ['1d', 86_400_000],
    ['0.5 day', 43_200_000],
    ['30 days', 2_592_000_000],
    ['1w', 604_800_000],
    ['2 weeks', 1_209_600_000],
    ['1y', 31_557_600_000],
    ['1 yr', 31_557_600_000],
    ['10y', MAX_DURATION_MS],
    ['007d', 604_800_000],
  ])('reads %p as %i ms', (written, ms) => {
    expect(parseDuration('window', written)).toBe(ms)
  })

  it.each([
    ...[0, -1, 0.5, Number.NaN, Infinity, MAX_DURATION_MS + 1],
    ...['0s', '0.5ms', '1.0001s', '1.00000000000000000001ms', '10.1y', `${'9'.repeat(39)}y`],
  ])('refuses %p as out of range', (written) => {
    expect(() => parseDuration('window', written)).toThrow(
      expect.objectContaining({ code: 'SLUICE_OPTION_RANGE' }),
    )
  })

  it.each([
    ...['', ' ', '60', '60000', 'm', '1x', '1 fortnight', '1m30s', 'soon', `${'1'.repeat(50)}m`],
    ...['-1m', '+1m', '1M', '1 Minute', '1  m', '1\tm', ' 1m', '1m ', '1m\n', '.5s', '1.s', '1e3s'],
    ...['1ss', '1wks', '1mo', '1_000ms', '1,5s', '0x1s', '１m', '1constructor', '1__proto__'],
    ...[null, undefined, true, 5n, ['1m'], new Date(0), { ms: 1 }],
  ])('refuses %p as no duration', (written) => {
    expect(() => parseDuration('window', written)).toThrow(
      expect.objectContaining({ code: 'SLUICE_OPTION_TYPE' }),
    )
  })

  it('reads what it says', () => {
    const spoken = [
      [1, '1 ms'],
      [1001, '1001 ms'],
      [1000, '1 second'],
      [90_000, '90 seconds'],
      [60_000, '1 minute'],
      [7_200_000, '2 hours'],
      [MAX_DURATION_MS, '10 years'],
    ] as const
    for (const [ms, text] of spoken) {
      expect(spokenDuration(ms)).toBe(text)
      expect(parseDuration('window', text)).toBe(ms)
    }
  })

  it('accepts 0 if that is the minimum', () => {
    expect(parseDuration('maxDelay', 0, 0)).toBe(0)
    expect(parseDuration('maxDelay', '0s', 0)).toBe(0)
    expect(() => parseDuration('maxDelay', -1, 0)).toThrow('from 0 ms')
  })
})
