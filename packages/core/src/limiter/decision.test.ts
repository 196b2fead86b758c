import { describe, expect, it } from '@jest/globals'
import { formOf, type Outcome } from '../algorithms/algorithm.ts'
import { OPTION_NAMES } from '../options/option-names.ts'
import type { StoreResult } from '../stores/store.ts'
import { refusingPolicy, toDecision } from './decision.ts'
import { compilePolicies } from './policies.ts'

const policies = compilePolicies(
  {
    policies: [
      { name: 'a', limit: 10, window: 1000 },
      { name: 'b', limit: 20, window: 2000, algorithm: 'token-bucket', burst: 40 },
    ],
  },
  OPTION_NAMES.policy,
)
const charges = policies.map((policy) => {
  return {
    key: `of ${policy.name}`,
    limit: policy.limitFor(policy.name === 'a' ? 10 : 20),
    cost: 1,
  }
})

const admitted: Outcome = {
  admitted: true,
  remaining: 5,
  resetMs: 800,
  retryAfterMs: 0,
  effectiveMs: 300,
  delayMs: 0,
}
const refused: Outcome = { ...admitted, admitted: false, remaining: 0, retryAfterMs: 300 }

function decide(
  one: Partial<Outcome>,
  other: Partial<Outcome>,
  source: StoreResult['source'] = 'store',
) {
  const outcomes = [one, other].map((outcome) => ({
    ...(outcome.admitted === false ? refused : admitted),
    ...outcome,
  }))
  const result = { admitted: outcomes.every((each) => each.admitted), at: 123, source, outcomes }
  return toDecision(result, policies, charges)
}

describe('toDecision()', () => {
  it('shows the terms of each policy, a burst by its capacity and the time to refill it', () => {
    const { policies: shown } = decide({}, {})
    expect(shown.map(({ name, limit, windowMs }) => [name, limit, windowMs])).toEqual([
      ['a', 10, 1000],
      ['b', 40, 4000],
    ])
  })

  it('says which key was charged', () => {
    expect(decide({}, {}).policies.map(({ key }) => key)).toEqual(['of a', 'of b'])
  })

  it('says when it was decided and by whom', () => {
    expect(decide({}, {})).toMatchObject({ at: 123, source: 'store' })
    expect(decide({}, {}, 'local').source).toBe('local')
    expect(decide({ admitted: false }, {}, 'cache').source).toBe('cache')
  })

  it('has no wait if admitted, whatever the effective window', () => {
    const decision = decide({ effectiveMs: 300 }, { effectiveMs: 700 })
    expect(decision.retryAfterMs).toBe(0)
    expect(decision.policies.map((each) => [each.retryAfterMs, each.effectiveMs])).toEqual([
      [0, 300],
      [0, 700],
    ])
  })

  it.each([
    ['less remaining', { remaining: 4 }, { remaining: 3 }, 40],
    ['less remaining, first', { remaining: 3 }, { remaining: 4 }, 10],
    ['as little, full later', { resetMs: 1 }, { resetMs: 2 }, 40],
    ['as little, full later, first', { resetMs: 2 }, { resetMs: 1 }, 10],
    ['all the same: the first', {}, {}, 10],
  ])('admitted, is bound by the policy with %s', (_, one, other, limit) => {
    expect(decide(one, other).limit).toBe(limit)
  })

  it.each([
    ['that alone refuses', {}, { admitted: false, retryAfterMs: 1 }, 40, 1],
    ['that alone refuses, first', { admitted: false, retryAfterMs: 1 }, { remaining: 0 }, 10, 1],
    [
      'with the longer wait',
      { admitted: false, retryAfterMs: 5 },
      { admitted: false, retryAfterMs: 6 },
      40,
      6,
    ],
    ['that comes first of two', { admitted: false }, { admitted: false }, 10, 300],
    [
      'never to admit',
      { admitted: false, retryAfterMs: Infinity },
      { admitted: false },
      10,
      Infinity,
    ],
  ])('refused, is bound by the policy %s', (_, one, other, limit, retryAfterMs) => {
    expect(decide(one, other)).toMatchObject({ allowed: false, limit, retryAfterMs })
  })

  it('waits as long as the longest queue, which need not be the one that binds', () => {
    const decision = decide({ delayMs: 900, remaining: 5 }, { delayMs: 100, remaining: 1 })
    expect(decision).toMatchObject({ limit: 40, delayMs: 900 })
    expect(decision.policies.map(({ delayMs }) => delayMs)).toEqual([900, 100])
  })

  it('does not wait if refused', () => {
    const decision = decide({ delayMs: 900 }, { admitted: false, delayMs: 100 })
    expect([decision.delayMs, ...decision.policies.map(({ delayMs }) => delayMs)]).toEqual([
      0, 0, 0,
    ])
  })
})

it('of two policies that refuse for as long, the one that is no dry run refuses', () => {
  const dry = charges.map((charge, i) => ({ ...charge, limit: formOf(charge.limit, i !== 0) }))
  const outcomes = [refused, refused]
  const result = { admitted: false, at: 123, source: 'store', outcomes } as const
  expect(refusingPolicy(toDecision(result, policies, dry))).toBe(1)
})
