import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import type { AlgorithmParams } from './algorithm.ts'
import type { AlgorithmName } from './index.ts'
import { algorithms } from './index.ts'
import { anyOffset, anyParams, anyTraffic, newKey, send } from './testing/arbitraries.ts'
import { SoleKey } from './testing/sole-key.ts'
import { HOUR } from './testing/trace.ts'

const names = Object.keys(algorithms) as AlgorithmName[]

/** ms, and shares of the window. */
const anyStep = fc.oneof(
  fc.record({ ms: fc.constantFrom(1, 2, HOUR - 1, HOUR, HOUR + 1), windows: fc.constant(0) }),
  fc.record({ ms: fc.integer({ min: 0, max: 1 }), windows: fc.constantFrom(0.5, 1, 1.5, 2, 3) }),
  fc.record({ ms: fc.integer({ min: 1, max: 5000 }), windows: fc.constant(0) }),
)

interface Stepped {
  key: SoleKey
  params: AlgorithmParams
  /** The time before the step, ms. */
  now: number
  stepMs: number
}

/** Draws traffic and a step of the clock after it. */
function whenClockSteps(name: AlgorithmName, check: (stepped: Stepped) => void) {
  const property = fc.property(
    anyParams(name),
    anyOffset,
    anyTraffic(12),
    anyStep,
    (params, offset, traffic, { ms, windows }) => {
      const key = newKey(name, params)
      const { now } = send(key, params, offset, traffic)
      check({ key, params, now, stepMs: ms + Math.floor(windows * params.windowMs) })
    },
  )
  fc.assert(property, { numRuns: 300 })
}

function wholeQuota({ limit }: SoleKey, now: number): number {
  return new SoleKey(limit).ask(now).remaining
}

describe.each(names)('%s', (name) => {
  test('after a step back a client is admitted within a window', () => {
    whenClockSteps(name, ({ key, now, stepMs, params: { windowMs } }) => {
      const stepped = now - stepMs
      // The state learns of the step from this request, though it is refused.
      const { admitted, retryAfterMs } = key.consume(stepped, 1)
      if (admitted) return
      expect(retryAfterMs).toBeLessThanOrEqual(windowMs)
      expect(key.ask(stepped + retryAfterMs, 1).admitted).toBe(true)
    })
  })

  test('retries during that time, all refused, do not prolong it', () => {
    whenClockSteps(name, ({ key, now, stepMs }) => {
      const stepped = now - stepMs
      const first = key.consume(stepped, 1)
      if (first.admitted) return
      const end = stepped + first.retryAfterMs
      const retries = [1, 2, 3, 4, 5, 6, 7, 8, 9].map((part) => {
        const at = stepped + Math.floor((first.retryAfterMs * part) / 10)
        const { admitted, retryAfterMs } = key.consume(at, 1)
        return { admitted, until: at + retryAfterMs }
      })
      expect(retries).toEqual(retries.map(() => ({ admitted: false, until: end })))
      expect(key.consume(end, 1).admitted).toBe(true)
    })
  })

  test('a step, back or forward, never gives more than one full quota', () => {
    whenClockSteps(name, ({ key, now, stepMs }) => {
      for (const stepped of [now - stepMs, now + stepMs]) {
        const drained = key.fork().drain(stepped)
        expect(drained).toBeLessThanOrEqual(wholeQuota(key, stepped))
      }
    })
  })

  test('a step back and forward again gives no more than one full quota at either end', () => {
    whenClockSteps(name, ({ key, now, stepMs }) => {
      key.drain(now)
      const there = key.drain(now - stepMs)
      const andBack = key.drain(now)
      expect(Math.max(there, andBack)).toBeLessThanOrEqual(wholeQuota(key, now))
      expect(key.drain(now)).toBe(0)
    })
  })

  test('a step back leaves no more than before, unless a new window begins', () => {
    whenClockSteps(name, ({ key, now, stepMs }) => {
      if (name === 'sliding-window') return
      expect(key.ask(now - stepMs).remaining).toBeLessThanOrEqual(key.ask(now).remaining)
    })
  })
})
