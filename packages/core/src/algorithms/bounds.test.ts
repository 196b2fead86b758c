import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import type { AlgorithmParams } from './algorithm.ts'
import type { AlgorithmName } from './index.ts'
import { anyOffset, anyParams, anyTraffic, newKey, send } from './testing/arbitraries.ts'
import type { Admitted } from './testing/oracles.ts'
import { START } from './testing/trace.ts'

/** Sends the traffic to a new key; returns what was admitted, at the moment when it goes on. */
function released(
  name: AlgorithmName,
  params: AlgorithmParams,
  ...sent: SentArguments
): Admitted[] {
  const { met } = send(newKey(name, params), params, ...sent)
  return met
    .filter(({ outcome }) => outcome.admitted)
    .map(({ at, cost, outcome }) => ({ at: at + outcome.delayMs, cost }))
}

type SentArguments = [offset: number, traffic: Parameters<typeof send>[3]]

/** The most units in any span (end − length, end]. */
function mostWithin(length: number, admitted: readonly Admitted[]): number {
  const within = admitted.map(({ at: end }) =>
    admitted.filter(({ at }) => at > end - length && at <= end),
  )
  return Math.max(0, ...within.map((span) => span.reduce((total, { cost }) => total + cost, 0)))
}

function forAnyTraffic(
  name: AlgorithmName,
  check: (params: AlgorithmParams, admitted: Admitted[]) => void,
) {
  const property = fc.property(anyParams(name), anyOffset, anyTraffic(60), (params, ...sent) => {
    check(params, released(name, params, ...sent))
  })
  fc.assert(property, { numRuns: 300 })
}

/** Requests that each come so many ms after the one before. */
function at(...pauses: [ms: number, cost: number][]) {
  return pauses.map(([ms, cost]) => ({ pause: { share: 0, ms }, cost }))
}

describe('fixed window', () => {
  test('never more than the limit in a window, nor twice that in a span as long', () => {
    forAnyTraffic('fixed-window', ({ limit, windowMs }, admitted) => {
      const perWindow = new Map<number, number>()
      for (const { at, cost } of admitted) {
        const window = Math.floor(at / windowMs)
        perWindow.set(window, (perWindow.get(window) ?? 0) + cost)
      }
      expect(Math.max(0, ...perWindow.values())).toBeLessThanOrEqual(limit)
      expect(mostWithin(windowMs, admitted)).toBeLessThanOrEqual(2 * limit)
    })
  })

  test('twice the limit is reached', () => {
    const sent = released('fixed-window', { limit: 5, windowMs: 1000 }, 999, at([0, 5], [1, 5]))
    expect(mostWithin(1000, sent)).toBe(10)
  })
})

describe('sliding window', () => {
  test('never more than 2·limit in a span as long as a window', () => {
    forAnyTraffic('sliding-window', ({ limit, windowMs }, admitted) => {
      expect(mostWithin(windowMs, admitted)).toBeLessThanOrEqual(2 * limit)
    })
  })

  test('2·limit is reached: all at the end of a window, then each unit as it fades', () => {
    const fading = Array.from({ length: 5 }, () => ({ pause: 'as stated' as const, cost: 1 }))
    const traffic = [...at([0, 5]), ...fading]
    const sent = released('sliding-window', { limit: 5, windowMs: 1000 }, 999, traffic)
    expect(mostWithin(1000, sent)).toBe(10)
  })

  test('on a steady stream within the limit it refuses nothing', () => {
    const stream = Array.from({ length: 100 }, () => at([250, 1])).flat()
    expect(released('sliding-window', { limit: 5, windowMs: 1000 }, 7, stream)).toHaveLength(100)
  })
})

describe('sliding log', () => {
  test('never more than the limit in a span as long as a window', () => {
    forAnyTraffic('sliding-log', ({ limit, windowMs }, admitted) => {
      expect(mostWithin(windowMs, admitted)).toBeLessThanOrEqual(limit)
    })
  })
})

describe('token bucket', () => {
  test('never more than burst + limit from one moment to another a window later', () => {
    forAnyTraffic('token-bucket', ({ limit, windowMs, burst = limit }, admitted) => {
      expect(mostWithin(windowMs + 1, admitted)).toBeLessThanOrEqual(burst + limit)
    })
  })

  test('burst + limit is reached', () => {
    const options = { limit: 2, windowMs: 1000, burst: 7 }
    const sent = released('token-bucket', options, 0, at([0, 7], [500, 1], [500, 1]))
    expect(mostWithin(1001, sent)).toBe(9)
  })
})

describe('leaky bucket', () => {
  test('requests go on in their order, each after the turns of the one before', () => {
    forAnyTraffic('leaky-bucket', ({ limit, windowMs }, admitted) => {
      for (let i = 1; i < admitted.length; i += 1) {
        const { at, cost } = admitted[i - 1]!
        // Moments are rounded up to the ms, so a turn may seem shorter by a part of one.
        const turns = Math.floor((cost * windowMs) / limit)
        expect(admitted[i]!.at - at).toBeGreaterThanOrEqual(turns)
      }
    })
  })

  test('units never go on above the rate: at most the limit, and the last request, per window', () => {
    forAnyTraffic('leaky-bucket', ({ limit, windowMs }, admitted) => {
      const largest = Math.max(1, ...admitted.map(({ cost }) => cost))
      expect(mostWithin(windowMs, admitted)).toBeLessThanOrEqual(limit + largest - 1)
    })
  })

  test('no request waits longer than maxDelay', () => {
    const property = fc.property(
      anyParams('leaky-bucket'),
      anyOffset,
      anyTraffic(40),
      (params, offset, traffic) => {
        const { met } = send(newKey('leaky-bucket', params), params, offset, traffic)
        const delays = met.map(({ outcome }) => outcome.delayMs)
        expect(Math.max(0, ...delays)).toBeLessThanOrEqual(params.maxDelayMs!)
      },
    )
    fc.assert(property, { numRuns: 300 })
  })

  test('simultaneous requests leave evenly spaced', () => {
    const options = { limit: 4, windowMs: 1000, maxDelayMs: 2000 }
    const crowd = Array.from({ length: 9 }, () => at([0, 1])).flat()
    const gone = released('leaky-bucket', options, 3, crowd).map(({ at: each }) => each - START - 3)
    expect(gone).toEqual([0, 250, 500, 750, 1000, 1250, 1500, 1750, 2000])
  })
})
