import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import type { AlgorithmParams } from './algorithm.ts'
import type { AlgorithmName } from './index.ts'
import { algorithms } from './index.ts'
import { anyOffset, anyParams, anyTraffic, newKey, send } from './testing/arbitraries.ts'
import { type Admitted, oracles, queueDelay } from './testing/oracles.ts'
import { MONTH, START, TEN_YEARS, YEAR } from './testing/trace.ts'
import { tickStart, ticksPerWindow } from './ticks.ts'

const names = Object.keys(algorithms) as AlgorithmName[]

describe.each(names)('%s', (name) => {
  test('decides as its definition says about the list of all admitted requests', () => {
    const traffic = anyTraffic(40)
    const decide = fc.property(anyParams(name), anyOffset, traffic, (params, offset, moves) => {
      const admitted: Admitted[] = []
      const decided: unknown[] = []
      const defined: unknown[] = []
      for (const { at, cost, outcome } of send(newKey(name, params), params, offset, moves).met) {
        const left = oracles[name](params, admitted, at)
        const admits = Math.max(cost, 1) <= left
        const waits = admits && name === 'leaky-bucket'
        const delayMs = waits ? queueDelay(params, admitted, at) : 0
        if (admits) admitted.push({ at, cost })
        const remaining = Math.max(0, admits ? left - cost : left)
        decided.push([outcome.admitted, outcome.remaining, outcome.delayMs])
        defined.push([admits, remaining, delayMs])
      }
      expect(decided).toEqual(defined)
    })
    fc.assert(decide, { numRuns: 500 })
  })
})

describe('policies too large for ticks of 1 ms', () => {
  const plans: AlgorithmParams[] = [
    { limit: 1e7, windowMs: MONTH },
    { limit: 1e9, windowMs: YEAR },
    { limit: 1e12, windowMs: TEN_YEARS },
    { limit: 999_999_999_989, windowMs: TEN_YEARS - 1 },
  ]
  const cases = plans.flatMap((params) =>
    (['sliding-window', 'token-bucket'] as const).map((name) => ({ ...params, name })),
  )

  /** ms: no tick is longer. */
  function tick({ limit, windowMs }: AlgorithmParams): number {
    const ticks = ticksPerWindow(limit, windowMs)
    expect(ticks).toBeGreaterThanOrEqual(5000)
    return tickStart(1, windowMs, ticks)
  }

  test.each(cases)('$name, $limit in $windowMs ms: exact to the tick', ({ name, ...options }) => {
    const { limit, windowMs } = options
    const window = Math.ceil(START / windowMs) * windowMs
    const share = fc.integer({ min: 0, max: 1_000_000 })
    const share2 = fc.integer({ min: 0, max: 2_100_000 })
    const exact = fc.property(share, share, share2, (used, charged, asked) => {
      const at = window + Math.floor((charged / 1_000_001) * windowMs)
      const cost = Math.floor((used / 1_000_000) * limit)
      const now = at + Math.floor((asked / 1_000_000) * windowMs)
      const key = newKey(name, options)
      key.consume(at, cost)
      const left = (when: number) => oracles[name](options, [{ at, cost }], Math.max(at, when))
      const { remaining } = key.ask(now)
      expect(remaining).toBeGreaterThanOrEqual(left(now - tick(options)))
      expect(remaining).toBeLessThanOrEqual(left(now + tick(options)))
      // Never less, so that a client evenly spaced at its limit is admitted.
      if (name === 'sliding-window') expect(remaining).toBeGreaterThanOrEqual(left(now))
    })
    fc.assert(exact, { numRuns: 300 })
  })
})
