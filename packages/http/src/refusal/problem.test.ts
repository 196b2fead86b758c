import { describe, expect, test } from '@jest/globals'
import type { PolicyDecision } from '@sluice/core'
import fc from 'fast-check'
import { PROBLEM_MEDIA_TYPE, problemBody } from './refusal.ts'

/** The body of a refusal by policies of these names. */
function bodyOf(status: 429 | 503, names: readonly string[]): string {
  const policies = names.map((name) => ({ name }) as PolicyDecision)
  const violated = names.map((_, i) => i)
  return problemBody({ status, banned: false }, { policies, violated })
}

describe('the body of a refusal', () => {
  test('is application/problem+json, as in the example of the draft', () => {
    expect(PROBLEM_MEDIA_TYPE).toBe('application/problem+json')
    expect(bodyOf(429, ['burst'])).toBe(
      '{"type":"https://iana.org/assignments/http-problem-types#quota-exceeded",' +
        '"title":"Quota Exceeded","status":429,"violated-policies":["burst"]}',
    )
  })

  test('with 503 it says 503 and another type', () => {
    expect(bodyOf(503, ['burst', 'daily'])).toBe(
      '{"type":"https://iana.org/assignments/http-problem-types#temporary-reduced-capacity",' +
        '"title":"Temporary Reduced Capacity","status":503,"violated-policies":["burst","daily"]}',
    )
  })

  test('four members, and the names as they were given', () => {
    const name = fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 128 })
    fc.assert(
      fc.property(fc.array(name, { minLength: 1, maxLength: 4 }), (names) => {
        const body = JSON.parse(bodyOf(429, names))
        expect(Object.keys(body)).toEqual(['type', 'title', 'status', 'violated-policies'])
        expect(body['violated-policies']).toEqual(names)
      }),
    )
  })
})
