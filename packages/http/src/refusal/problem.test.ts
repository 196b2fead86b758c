import { describe, expect, test } from '@jest/globals'
import type { PolicyDecision } from '@sluice/core'
import fc from 'fast-check'
import { composeProfiles, type Profile } from '../fields/profiles/index.ts'
import { PROBLEM_MEDIA_TYPE, problemBody, type RefusalStatus } from './refusal.ts'

/** The body of a refusal by policies of these names. */
function bodyOf(status: RefusalStatus, names: readonly string[], profile?: Profile): string {
  const policies = names.map((name) => ({ name, unit: 'tokens' }) as PolicyDecision)
  const violated = names.map((_, i) => i)
  const refusal = { status, banned: false, retryAfterMs: 1500 }
  return problemBody(refusal, { policies, violated }, profile)
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

  test('with 402 it has the type of a quota', () => {
    expect(JSON.parse(bodyOf(402, ['plan']))).toMatchObject({
      title: 'Quota Exceeded',
      status: 402,
      'violated-policies': ['plan'],
    })
  })

  test.each([
    [403, 'Forbidden'],
    [404, 'Not Found'],
  ] as const)('with %d it does not say why', (status, title) => {
    const body = { type: 'about:blank', title, status }
    expect(JSON.parse(bodyOf(status, ['burst']))).toEqual(body)
    const banned = { status, banned: true, retryAfterMs: 1000 }
    expect(JSON.parse(problemBody(banned, undefined))).toEqual(body)
  })

  test('with the fields of OpenAI it has the error that its SDK reads', () => {
    const profile = composeProfiles(['draft-11', 'openai'])
    expect(JSON.parse(bodyOf(429, ['burst'], profile)).error).toEqual({
      message: 'Quota Exceeded. Please try again in 1.5s.',
      type: 'tokens',
      param: null,
      code: 'rate_limit_exceeded',
    })
    expect(JSON.parse(bodyOf(429, ['burst']))).not.toHaveProperty('error')
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
