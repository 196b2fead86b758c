import { describe, expect, test } from '@jest/globals'
import { policyText, type ReportedPolicy } from './policy-text.ts'

const MINUTE = { name: 'minute', unit: 'requests', limit: 100, windowMs: 60_000 }

const policy = (terms: Partial<ReportedPolicy>, partitionKey?: Uint8Array) =>
  policyText({ ...MINUTE, ...terms }, partitionKey)

describe('the text of a policy', () => {
  test('a name is a quoted String with its quotes and backslashes escaped', () => {
    expect(policy({ name: 'a"b\\c' }).namedPolicy).toBe('"a\\"b\\\\c";q=100;w=60')
  })

  test.each([
    [1, 1],
    [1000, 1],
    [1001, 2],
    [Number.MAX_SAFE_INTEGER, 9_007_199_254_741],
  ])('a window of %d ms is %d s', (windowMs, seconds) => {
    expect(policy({ windowMs }).namedPolicy).toBe(`"minute";q=100;w=${seconds}`)
  })

  test('a unit is a String of the registry, and requests is not written', () => {
    expect(policy({ unit: 'requests' }).namedPolicy).toBe('"minute";q=100;w=60')
    expect(policy({ unit: 'content-bytes' }).namedPolicy).toBe(
      '"minute";q=100;qu="content-bytes";w=60',
    )
  })

  test('no partition key unless one is given', () => {
    expect(policy({}).namedPolicy).not.toContain('pk')
    const partitionKey = Uint8Array.of(0xff, 0xfe)
    expect(policy({}, partitionKey).namedPolicy).toBe('"minute";q=100;w=60;pk=://4=:')
  })
})
