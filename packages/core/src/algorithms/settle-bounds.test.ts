import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import type { AlgorithmName } from './index.ts'
import { algorithms } from './index.ts'
import { anyOffset, anyParams, newKey } from './testing/arbitraries.ts'
import { anyReservations, excess, playReservations } from './testing/reservations.ts'
import type { SoleKey } from './testing/sole-key.ts'
import { START } from './testing/trace.ts'

function reserved(key: SoleKey) {
  return {
    remaining: (now: number) => key.ask(now).remaining,
    consume: (now: number, cost: number) => key.consume(now, cost).admitted,
    settle: (now: number, delta: number, chargedAt: number) => key.settle(now, delta, chargedAt),
  }
}

describe.each(Object.keys(algorithms) as AlgorithmName[])('%s', (name) => {
  test('settled at any time and in any order, requests never really cost more than its bound', async () => {
    const property = fc.asyncProperty(
      anyParams(name),
      anyOffset,
      anyReservations(),
      async (params, ...played) => {
        const admitted = await playReservations(reserved(newKey(name, params)), params, ...played)
        // A bucket also has parts of a unit, which are rounded here.
        expect(excess(name, params, admitted)).toBeLessThanOrEqual(1e-6)
      },
    )
    await fc.assert(property, { numRuns: 1000 })
  })
})

test('a reservation held for long does not come back once it has drained', () => {
  const key = newKey('token-bucket', { limit: 1000, windowMs: 1000 })
  expect(key.consume(START, 1000).admitted).toBe(true)
  expect(key.consume(START + 159, 159).admitted).toBe(true)
  // Of the 1000, 159 have drained since: they were there for others, who have used them.
  expect(key.settle(START + 159, -1000, START)).toEqual({ remaining: 841, resetMs: 159 })
})
