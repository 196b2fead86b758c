import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import type { AlgorithmParams, Outcome } from './algorithm.ts'
import type { AlgorithmName } from './index.ts'
import { algorithms } from './index.ts'
import { anyOffset, anyParams, anyTraffic, newKey, send } from './testing/arbitraries.ts'
import type { SoleKey } from './testing/sole-key.ts'

const names = Object.keys(algorithms) as AlgorithmName[]

/** An admitted request, and what the most eager client takes in its effective window. */
interface Taken {
  key: SoleKey
  params: AlgorithmParams
  at: number
  outcome: Outcome
  /** Units taken until 1 ms before the effective window ends. */
  units: number
}

function whenAdmitted(name: AlgorithmName, check: (taken: Taken) => void) {
  const shares = fc.array(fc.integer({ min: 0, max: 1000 }), { maxLength: 8 })
  const property = fc.property(
    anyParams(name),
    anyOffset,
    anyTraffic(12),
    shares,
    (params, offset, traffic, moments) => {
      const key = newKey(name, params)
      const { now: at } = send(key, params, offset, traffic)
      const outcome = key.consume(at, 1)
      if (!outcome.admitted) return
      const within = moments.map((share) => Math.floor(((outcome.effectiveMs - 1) * share) / 1000))
      const eager = key.fork()
      let units = 0
      for (const ms of [0, ...within.sort((a, b) => a - b), outcome.effectiveMs - 1]) {
        units += eager.drain(at + ms)
      }
      check({ key, params, at, outcome, units })
    },
  )
  fc.assert(property, { numRuns: 300 })
}

describe.each(names)('%s', (name) => {
  test('with nothing left it ends when a unit is back, not 1 ms before', () => {
    whenAdmitted(name, ({ key, at, outcome, units }) => {
      if (outcome.remaining > 0) return
      expect(units).toBe(0)
      expect(key.ask(at + outcome.effectiveMs, 1).admitted).toBe(true)
    })
  })
})

describe.each(['fixed-window', 'sliding-log'] as const)('%s', (name) => {
  test('no more than what remains can be used in it', () => {
    whenAdmitted(name, ({ outcome, units }) => expect(units).toBe(outcome.remaining))
  })
})

describe('fixed window', () => {
  test('ends with the window', () => {
    whenAdmitted('fixed-window', ({ params: { windowMs }, at, outcome }) => {
      expect((at + outcome.effectiveMs) % windowMs).toBe(0)
      expect(outcome.effectiveMs).toBeLessThanOrEqual(windowMs)
    })
  })
})

describe('sliding window', () => {
  test('ends with the window: what fades of the previous one can be used in addition to what remains', () => {
    whenAdmitted('sliding-window', ({ params, at, outcome, units }) => {
      if (outcome.remaining === 0) return
      const { limit, windowMs } = params
      expect((at + outcome.effectiveMs) % windowMs).toBe(0)
      expect(outcome.effectiveMs).toBeLessThanOrEqual(windowMs)
      expect(units).toBeGreaterThanOrEqual(outcome.remaining)
      expect(units).toBeLessThan(limit)
    })
  })
})

describe.each(['token-bucket', 'leaky-bucket'] as const)('%s', (name) => {
  test('is as long as what remains takes to refill: r/t is the rate', () => {
    whenAdmitted(
      name,
      ({ params: { limit, windowMs }, outcome: { remaining, effectiveMs }, units }) => {
        if (remaining === 0) return
        expect(effectiveMs).toBe(Math.ceil((remaining * windowMs) / limit))
        // What remains, and less than as much again that refills meanwhile.
        expect(units).toBeGreaterThanOrEqual(remaining)
        expect(units).toBeLessThanOrEqual(2 * remaining)
      },
    )
  })
})
