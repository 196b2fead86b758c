import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import type { AlgorithmParams, Outcome } from './algorithm.ts'
import type { AlgorithmName } from './index.ts'
import { algorithms } from './index.ts'
import { anyOffset, anyTerms, anyTraffic, newKey, send } from './testing/arbitraries.ts'
import type { SoleKey } from './testing/sole-key.ts'

const names = Object.keys(algorithms) as AlgorithmName[]

/** An admitted request, and what the most eager client takes in the effective window told to it. */
interface Taken {
  key: SoleKey
  params: AlgorithmParams
  at: number
  told: Outcome
  /** Units taken until 1 ms before the effective window ends. */
  units: number
}

function whenAdmitted(name: AlgorithmName, check: (taken: Taken) => void) {
  const shares = fc.array(fc.integer({ min: 0, max: 1000 }), { maxLength: 8 })
  const property = fc.property(
    anyTerms(name),
    anyOffset,
    anyTraffic(12),
    shares,
    (params, offset, traffic, moments) => {
      const key = newKey(name, params)
      const { now: at } = send(key, params, offset, traffic)
      const told = key.consume(at, 1)
      if (!told.admitted) return
      const within = moments.map((share) => Math.floor(((told.effectiveMs - 1) * share) / 1000))
      const eager = key.fork()
      let units = 0
      for (const ms of [0, ...within.sort((a, b) => a - b), told.effectiveMs - 1]) {
        units += eager.drain(at + ms)
      }
      check({ key, params, at, told, units })
    },
  )
  fc.assert(property, { numRuns: 300 })
}

describe.each(names)('%s', (name) => {
  test('with nothing left it ends when a unit is back, not 1 ms before', () => {
    whenAdmitted(name, ({ key, at, told, units }) => {
      if (told.remaining > 0) return
      expect(units).toBe(0)
      expect(key.ask(at + told.effectiveMs, 1).admitted).toBe(true)
    })
  })
})

describe.each(['fixed-window', 'sliding-log'] as const)('%s', (name) => {
  test('no more than what remains can be used in it', () => {
    whenAdmitted(name, ({ told, units }) => expect(units).toBe(told.remaining))
  })
})

describe('fixed window', () => {
  test('ends with the window', () => {
    whenAdmitted('fixed-window', ({ params: { windowMs }, at, told }) => {
      expect((at + told.effectiveMs) % windowMs).toBe(0)
      expect(told.effectiveMs).toBeLessThanOrEqual(windowMs)
    })
  })
})

describe('sliding window', () => {
  test('ends with the window: what fades of the previous one can be used beside what remains', () => {
    whenAdmitted('sliding-window', ({ params, at, told, units }) => {
      if (told.remaining === 0) return
      const { limit, windowMs } = params
      expect((at + told.effectiveMs) % windowMs).toBe(0)
      expect(told.effectiveMs).toBeLessThanOrEqual(windowMs)
      expect(units).toBeGreaterThanOrEqual(told.remaining)
      expect(units).toBeLessThan(limit)
    })
  })
})

describe.each(['token-bucket', 'leaky-bucket'] as const)('%s', (name) => {
  test('is as long as what remains takes to refill: r/t is the rate', () => {
    whenAdmitted(
      name,
      ({ params: { limit, windowMs }, told: { remaining, effectiveMs }, units }) => {
        if (remaining === 0) return
        expect(effectiveMs).toBe(Math.ceil((remaining * windowMs) / limit))
        // What remains, and less than as much again that refills meanwhile.
        expect(units).toBeGreaterThanOrEqual(remaining)
        expect(units).toBeLessThanOrEqual(2 * remaining)
      },
    )
  })
})
