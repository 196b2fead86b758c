import { describe, expect, test } from '@jest/globals'
import { SluiceError } from '../../errors/sluice-error.ts'
import type { WirePolicyTerms } from './wire-policy.ts'
import { assertDistinctNames, WirePolicy } from './wire-policy.ts'

const MINUTE = { name: 'minute', quota: 100, windowMs: 60_000 }

function refusal(make: () => unknown): string {
  try {
    make()
  } catch (error) {
    expect(error).toBeInstanceOf(SluiceError)
    return (error as SluiceError).code
  }
  throw new Error('nothing was thrown')
}

/** Terms as a JavaScript caller may give them. */
const policy = (terms: Record<string, unknown>) =>
  new WirePolicy({ ...MINUTE, ...terms } as unknown as WirePolicyTerms)

describe('the terms', () => {
  test('4: a name is a quoted String with its quotes and backslashes escaped', () => {
    expect(policy({ name: 'a"b\\c' }).namedPolicy).toBe('"a\\"b\\\\c";q=100;w=60')
  })

  test.each(['', 'x'.repeat(129), 'é', 'a\r\nSet-Cookie: b', 'a\tb', 'a\x7f', undefined, 5])(
    '5: the name %j is refused',
    (name) => {
      expect(refusal(() => policy({ name }))).toBe('SLUICE_OPTION_VALUE')
    },
  )

  test('5: a name of 128 characters is taken', () => {
    expect(policy({ name: 'x'.repeat(128) }).name).toHaveLength(128)
  })

  test.each([-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 1e15, '5', undefined])(
    '7: the quota %j is refused',
    (quota) => {
      expect(refusal(() => policy({ quota }))).toBe('SLUICE_OPTION_RANGE')
    },
  )

  test.each([0, -1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, '60', null])(
    '7: the window %j is refused',
    (windowMs) => {
      expect(refusal(() => policy({ windowMs }))).toBe('SLUICE_OPTION_RANGE')
    },
  )

  test.each([
    [1, 1],
    [1000, 1],
    [1001, 2],
    [Number.MAX_SAFE_INTEGER, 9_007_199_254_741],
  ])('14: a window of %d ms is %d s', (windowMs, seconds) => {
    expect(policy({ windowMs }).namedPolicy).toBe(`"minute";q=100;w=${seconds}`)
  })

  test('9: a unit is a String of the registry, and requests is not written', () => {
    expect(policy({ unit: 'requests' }).namedPolicy).toBe('"minute";q=100;w=60')
    expect(policy({ unit: 'content-bytes' }).namedPolicy).toBe(
      '"minute";q=100;qu="content-bytes";w=60',
    )
    expect(refusal(() => policy({ unit: 'request' }))).toBe('SLUICE_OPTION_VALUE')
  })

  test('11: no partition key unless one is given', () => {
    expect(policy({}).namedPolicy).not.toContain('pk')
    const partitionKey = Uint8Array.of(0xff, 0xfe)
    expect(policy({ partitionKey }).namedPolicy).toBe('"minute";q=100;w=60;pk=://4=:')
  })
})

describe('several policies', () => {
  test('6: names that are equal but for case are refused', () => {
    const names = (...all: string[]) => all.map((name) => policy({ name }))
    expect(refusal(() => assertDistinctNames(names('burst', 'daily', 'Burst')))).toBe(
      'SLUICE_OPTION_VALUE',
    )
    expect(() => assertDistinctNames(names('burst', 'bursts'))).not.toThrow()
  })
})
