import { describe, expect, test } from '@jest/globals'
import type { PolicyOptions } from '@sluice/core'
import { type Drawn, drawHistory, type Step } from './drawn.ts'
import type { History, Operation } from './history.ts'
import { linearize } from './linearize.ts'
import { SequentialLimiter, type States } from './sequential.ts'
import { smallestPart } from './smallest-part.ts'

const policies: readonly (readonly [string, readonly PolicyOptions[]])[] = [
  ['fixed window', [{ algorithm: 'fixed-window', limit: 6, window: '100ms' }]],
  ['sliding window', [{ algorithm: 'sliding-window', limit: 6, window: '100ms' }]],
  ['sliding log', [{ algorithm: 'sliding-log', limit: 6, window: '100ms' }]],
  ['token bucket', [{ algorithm: 'token-bucket', limit: 8, window: '100ms', burst: 5 }]],
  ['leaky bucket', [{ algorithm: 'leaky-bucket', limit: 8, window: '100ms', maxDelay: 40 }]],
  [
    'two policies',
    [
      { name: 'log', algorithm: 'sliding-log', limit: 9, window: '200ms' },
      { name: 'bucket', algorithm: 'token-bucket', limit: 6, window: '100ms' },
    ],
  ],
]

describe.each(policies)('%s', (_, drawnPolicies) => {
  test('every sequential history that was made concurrent is possible', () => {
    for (let seed = 1; seed <= 10; seed += 1) {
      const drawn = {
        policies: drawnPolicies,
        spreadMs: 2,
        operations: 60,
        lost: (seed % 3) / 20,
        givenBack: (seed % 2) / 10,
      }
      expect([seed, linearize(drawHistory(seed, drawn))]).toEqual([seed, 'possible'])
    }
  })

  test.each(Object.entries(mistakes()))(
    '%s: no history is possible, and a small part of it shows why',
    (_, mistaken) => {
      let found = 0
      for (let seed = 1; found < 3; seed += 1) {
        const history = mistaken(seed, {
          policies: drawnPolicies,
          spreadMs: 0.002,
          operations: 25,
          lost: 0,
          givenBack: 0,
        })
        if (history === undefined) continue
        found += 1
        const part = smallestPart(history) as readonly Operation[]
        expect([seed, typeof part]).toEqual([seed, 'object'])
        expect([seed, part.length <= 2]).toEqual([seed, true])
        for (const each of part) {
          const rest = part.filter((other) => other !== each)
          const doubted = history.operations.map((other) => ({
            ...other,
            isCertain: rest.includes(other),
          }))
          expect(typeof linearize({ ...history, operations: doubted })).toBe('string')
        }
      }
    },
  )
})

test.each(policies)(
  '%s: what a store loses is explained by a loss of that much, and not by a smaller one',
  (_, drawnPolicies) => {
    let found = 0
    let tooShort = 0
    for (let seed = 1; found < 5; seed += 1) {
      const limiter = new SequentialLimiter(drawnPolicies)
      const all: States[] = []
      const drawn = { policies: drawnPolicies, operations: 30, lost: 0, givenBack: 0, spreadMs: 0 }
      const history = drawHistory(seed, {
        ...drawn,
        step: (states, asked, at) => {
          // Before the twentieth, what the last eight have changed is lost.
          const left = all.length === 20 ? (all[12] as States) : states
          const done = limiter.carryOut(left, asked, at)
          all.push(done.states)
          return done
        },
      })
      const calledAt = (i: number) => history.operations[i]?.called as number
      if (calledAt(19) === calledAt(20) || linearize(history) === 'possible') continue
      found += 1
      const lossSince = (since: number): History => {
        const loss = { from: calledAt(19), to: calledAt(20), lost: { since: calledAt(since) } }
        return { ...history, losses: [loss] }
      }
      expect(linearize(lossSince(12))).toBe('possible')
      if (linearize(lossSince(19)) !== 'possible') tooShort += 1
    }
    expect(tooShort).toBeGreaterThan(0)
  },
)

test('a charge that is written after a refusal may be of an earlier time, by as much as its store lets it be', () => {
  const fixed: readonly PolicyOptions[] = [{ algorithm: 'fixed-window', limit: 4, window: '1m' }]
  const limiter = new SequentialLimiter(fixed)
  const at = 1_700_000_000_000
  const operations: Operation[] = []
  let states = limiter.unused
  const carryOut = (cost: number, time: number, called: number, over: number) => {
    const done = limiter.carryOut(states, { cost }, at + time)
    states = done.states
    const span = { called, over, from: at + called, to: at + over }
    operations.push({ process: 0, asked: { cost }, isCertain: true, answer: done.answer, ...span })
  }
  carryOut(1, 10, 9, 11)
  carryOut(4, 1015, 1000, 1020)
  carryOut(3, 15, 14, 1030)
  const history = { policies: fixed, operations, losses: [] }
  expect(linearize({ ...history, earlyMs: 1000 })).toBe('possible')
  expect(linearize({ ...history, earlyMs: 999 })).toEqual({ impossibleBy: 1020 })
})

type Mistaken = (seed: number, drawn: Drawn) => History | undefined

/** What a wrong limiter does in place of the right step; undefined: there is no occasion for a mistake. */
type Wrong = (
  right: ReturnType<Step>,
  ...given: [...Parameters<Step>, readonly PolicyOptions[]]
) => ReturnType<Step> | undefined

function mistakes(): { [name: string]: Mistaken } {
  return {
    'one is admitted too many': once((right, states, asked, at, drawnPolicies) => {
      const limit = drawnPolicies.map((each) => ({ ...each, limit: (each.limit as number) + 1 }))
      const wrong = new SequentialLimiter(limit).carryOut(states, asked, at)
      return right.answer?.allowed === false && wrong.answer?.allowed ? wrong : undefined
    }),
    'a charge is lost': once((right, states, asked) =>
      right.answer?.allowed && 'cost' in asked && asked.cost > 0 ? { ...right, states } : undefined,
    ),
    'a refusal is charged': once((right, states, asked, at, drawnPolicies) => {
      if (right.answer?.allowed !== false || !('cost' in asked)) return undefined
      const charge = { giveBack: -asked.cost, chargedAt: at }
      return { ...right, ...new SequentialLimiter(drawnPolicies).carryOut(states, charge, at) }
    }),
    'two answers are swapped': (seed, drawn) => {
      const history = drawHistory(seed, drawn)
      const operations = [...history.operations]
      for (const [i, one] of operations.entries()) {
        const other = operations[i + 1]
        if (other === undefined || other.called <= one.over) continue
        if (JSON.stringify(one.answer) === JSON.stringify(other.answer)) continue
        operations[i] = { ...one, answer: other.answer }
        operations[i + 1] = { ...other, answer: one.answer }
        return { ...history, operations }
      }
      return undefined
    },
  }
}

/** Histories of a limiter that makes one mistake, at its first occasion, if its answers show it. */
function once(wrong: Wrong): Mistaken {
  return (seed, drawn) => {
    const limiter = new SequentialLimiter(drawn.policies)
    let isMade = false
    let isSeen = false
    let rightStates: States = limiter.unused
    const history = drawHistory(seed, {
      ...drawn,
      step: (...given) => {
        const right = limiter.carryOut(...given)
        const mistaken = isMade ? undefined : wrong(right, ...given, drawn.policies)
        isMade ||= mistaken !== undefined
        const expected = limiter.carryOut(rightStates, given[1], given[2])
        rightStates = expected.states
        const got = mistaken ?? right
        isSeen ||= JSON.stringify(got.answer) !== JSON.stringify(expected.answer)
        return got
      },
    })
    return isSeen ? history : undefined
  }
}
