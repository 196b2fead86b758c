import { describe, expect, test } from '@jest/globals'
import type { Decision } from '@sluice/core'
import type { FieldState } from '../fields/field-state.ts'
import { composeProfiles, type Profile } from '../fields/profiles/index.ts'
import { fieldState, type Item, item as itemOf } from '../fields/testing/field-states.ts'
import {
  denialOf,
  problemBody,
  RateLimitError,
  type Refusal,
  refusalOf,
  writeRefusalFields,
} from './refusal.ts'

const NOON = 1_795_176_000_000

function item(name: string, effectiveMs: number): Item {
  return itemOf({ name, limit: 5, windowMs: 60_000 }, 0, effectiveMs, 0)
}

function stateOf(served: Item[], violated: Item[]): FieldState {
  return fieldState([...served, ...violated], violated, NOON)
}

const PLAIN = { statusCode: 429, retryAfterJitter: 0 } as const

function fieldsOf(
  refusal: Refusal,
  waitFields: Profile['waitFields'] = [],
): Record<string, string> {
  const fields: Record<string, string> = {}
  writeRefusalFields(refusal, { waitFields }, (name, value) => {
    fields[name] = value
  })
  return fields
}

test('the longest wait of the policies that refused decides, whatever the others say', () => {
  const state = stateOf([item('day', 86_400_000)], [item('burst', 300), item('minute', 12_001)])
  const refusal = refusalOf(state, 'a', PLAIN)
  expect(refusal.retryAfterMs).toBe(12_001)
  expect(fieldsOf(refusal)['Retry-After']).toBe('13')
  const own = { name: 'X-Wait', text: String }
  expect(fieldsOf(refusal, [own])).toMatchObject({ 'Retry-After': '13', 'X-Wait': '12001' })
  expect(JSON.parse(problemBody(refusal, refusal.state))).toEqual({
    type: 'https://iana.org/assignments/http-problem-types#quota-exceeded',
    title: 'Quota Exceeded',
    status: 429,
    'violated-policies': ['burst', 'minute'],
  })
})

test('the policy that is waited for says the same as Retry-After, jitter included', () => {
  const waits = Array.from({ length: 50 }, (_, i) => {
    const { text, policy } = item('minute', 50_000)
    const given = stateOf(
      [],
      [item('burst', 300), { text, policy: { ...policy, key: `client-${i}` } }],
    )
    const options = { statusCode: 429, retryAfterJitter: 1 } as const
    const { retryAfterMs, state } = refusalOf(given, 'burst', options)
    expect(state?.policies.map(({ effectiveMs }) => effectiveMs)).toEqual([300, retryAfterMs])
    expect(retryAfterMs).toBeGreaterThanOrEqual(50_000)
    return retryAfterMs
  })
  expect(new Set(waits).size).toBeGreaterThan(10)
})

test('an infinite wait is reported as the window', () => {
  const state = stateOf([], [item('blocked', Infinity)])
  expect(refusalOf(state, 'a', PLAIN).retryAfterMs).toBe(60_000)
})

test('503 is reported as reduced capacity', () => {
  const options = { statusCode: 503, retryAfterJitter: 0 } as const
  const state = stateOf([], [item('burst', 300)])
  const refusal = refusalOf(state, 'a', options)
  expect(refusal.status).toBe(503)
  expect(JSON.parse(problemBody(refusal, refusal.state))).toMatchObject({
    status: 503,
    title: 'Temporary Reduced Capacity',
  })
})

describe('the fields', () => {
  test.each([
    [1, undefined],
    [60_000, undefined],
    [60_001, 'false'],
    [721_009_623, 'false'],
  ])('for clients of model APIs, of a wait of %i ms', (waitMs, shouldRetry) => {
    const refusal = refusalOf(stateOf([], [item('tokens', waitMs)]), 'a', PLAIN)
    for (const profile of ['openai', 'anthropic'] as const) {
      const fields = fieldsOf(refusal, composeProfiles([profile]).waitFields)
      expect(fields['Retry-After-Ms']).toBe(`${waitMs}`)
      expect(fields['X-Should-Retry']).toBe(shouldRetry)
    }
    expect(fieldsOf(refusal, composeProfiles(['draft-11']).waitFields)).not.toHaveProperty(
      'X-Should-Retry',
    )
  })

  test('of a refusal', () => {
    const refusal = refusalOf(stateOf([], [item('burst', 300)]), 'a', PLAIN)
    expect(fieldsOf(refusal)).toEqual({ 'Retry-After': '1', 'Cache-Control': 'no-store' })
  })

  test('of a denial: no Retry-After', () => {
    expect(fieldsOf(denialOf('192.0.2.1'))).toEqual({ 'Cache-Control': 'no-store' })
  })
})

test.each([
  [429, 429],
  [402, 429],
  [503, 429],
  [403, 403],
  [404, 404],
] as const)('with statusCode %d a banned client gets %d', (statusCode, status) => {
  const state = stateOf([], [item('ban', 60_000)])
  const options = { statusCode, retryAfterJitter: 0 }
  expect(refusalOf(state, 'a', options, true).status).toBe(status)
  expect(refusalOf(state, 'a', options).status).toBe(statusCode)
})

test('as an error it has what a handler needs, and no identifier of the client', () => {
  const refusal = refusalOf(stateOf([], [item('burst', 300)]), '192.0.2.1', PLAIN)
  const decision = { allowed: false } as Decision
  const error = new RateLimitError(refusal, decision, fieldsOf(refusal))
  expect(error).toBeInstanceOf(Error)
  expect(error).toMatchObject({
    name: 'RateLimitError',
    code: 'SLUICE_REFUSED',
    message: 'Quota Exceeded',
    status: 429,
    statusCode: 429,
    expose: true,
    headers: { 'Retry-After': '1' },
  })
  expect(error.decision).toBe(decision)
  expect(`${error.message}${JSON.stringify(error)}`).not.toContain('192.0.2.1')
  expect(new RateLimitError(denialOf('192.0.2.1'), decision, {}).message).toBe('Forbidden')
})
