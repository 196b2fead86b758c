import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import type { AlgorithmParams } from './algorithm.ts'
import type { AlgorithmName } from './index.ts'
import { algorithms } from './index.ts'
import { anyOffset, anyParams, anyTraffic, newKey, send } from './testing/arbitraries.ts'
import { SoleKey } from './testing/sole-key.ts'
import { START } from './testing/trace.ts'

const names = Object.keys(algorithms) as AlgorithmName[]
const anyCost = fc.integer({ min: 0, max: 14 })

/** Draws parameters and traffic, sends it, and returns the resulting key. */
function afterTraffic<T>(
  name: AlgorithmName,
  drawn: fc.Arbitrary<T>,
  check: (key: SoleKey, now: number, params: AlgorithmParams, drawn: T) => void,
) {
  const property = fc.property(
    anyParams(name),
    anyOffset,
    anyTraffic(12),
    drawn,
    (params, offset, traffic, extra) => {
      const key = newKey(name, params)
      const { now } = send(key, params, offset, traffic)
      check(key, now, params, extra)
    },
  )
  fc.assert(property, { numRuns: 300 })
}

/** Units that a full quota admits together. */
function fullQuota({ limit }: SoleKey, now: number): number {
  return new SoleKey(limit).ask(now).remaining
}

describe.each(names)('%s', (name) => {
  test('waiting for retryAfterMs is enough, 1 ms less is not', () => {
    const drawn = fc.tuple(anyCost, fc.nat(999))
    afterTraffic(name, drawn, (key, now, _params, [cost, permille]) => {
      const { admitted, retryAfterMs } = key.consume(now, cost)
      if (admitted) return
      if (retryAfterMs === Infinity) {
        expect(Math.max(cost, 1)).toBeGreaterThan(fullQuota(key, now))
        return
      }
      expect(Number.isInteger(retryAfterMs) && retryAfterMs >= 1).toBe(true)
      expect(key.ask(now + retryAfterMs, cost).admitted).toBe(true)
      expect(key.ask(now + retryAfterMs - 1, cost).admitted).toBe(false)
      expect(key.ask(now + Math.floor((retryAfterMs * permille) / 1000), cost).admitted).toBe(false)
    })
  })

  test('a wait never ends only for a cost above the full quota', () => {
    afterTraffic(name, anyCost, (key, now, _params, cost) => {
      const { retryAfterMs } = key.ask(now, cost)
      expect(retryAfterMs === Infinity).toBe(Math.max(cost, 1) > fullQuota(key, now))
    })
  })

  test('a refusal leaves no trace in what comes later', () => {
    const drawn = fc.tuple(fc.array(anyCost, { minLength: 1, maxLength: 5 }), anyTraffic(12))
    afterTraffic(name, drawn, (key, now, params, [costs, traffic]) => {
      const spared = key.fork()
      for (const cost of costs) if (!key.ask(now, cost).admitted) key.consume(now, cost)
      key.consume(now, fullQuota(key, now) + 1)
      const offset = now - START
      expect(send(key, params, offset, traffic)).toEqual(send(spared, params, offset, traffic))
    })
  })

  test('what remains is admitted, together or unit by unit, and no more', () => {
    afterTraffic(name, anyCost, (key, now, _params, cost) => {
      const { remaining } = key.consume(now, cost)
      expect(key.ask(now, remaining + 1).admitted).toBe(false)
      expect(key.ask(now, remaining).admitted).toBe(remaining > 0)
      const single = key.fork()
      const units = Array.from({ length: Math.min(remaining, 30) }, () => single.consume(now))
      expect(units.map((unit) => unit.admitted && unit.remaining)).toEqual(
        units.map((_, i) => remaining - i - 1),
      )
      if (remaining <= 30) expect(single.consume(now).admitted).toBe(false)
    })
  })

  test('the quota is full after resetMs, and not 1 ms before', () => {
    afterTraffic(name, anyCost, (key, now, { maxDelayMs }, cost) => {
      const { resetMs } = key.consume(now, cost)
      const full = fullQuota(key, now + resetMs)
      expect(key.ask(now + resetMs)).toMatchObject({ remaining: full, resetMs: 0 })
      if (resetMs === 0) return
      const before = key.ask(now + resetMs - 1)
      expect(before.resetMs).toBe(1)
      // A queue has room for a part of a unit besides the whole ones.
      if (maxDelayMs === undefined) expect(before.remaining).toBeLessThan(full)
    })
  })

  test('once a store may drop the key, nothing that comes later tells whether it has', () => {
    const anyCorrection = fc.record({
      pauseMs: fc.integer({ min: 0, max: 1500 }),
      agoMs: fc.integer({ min: 0, max: 3000 }),
      delta: fc.integer({ min: -14, max: 14 }),
    })
    afterTraffic(name, fc.array(anyCorrection, { maxLength: 5 }), (key, now, params, drawn) => {
      const dropped = new SoleKey(key.limit)
      const share = (permille: number) => Math.floor((permille * params.windowMs) / 1000)
      let at = now + key.keepMs(now)
      for (const { pauseMs, agoMs, delta } of drawn) {
        at += share(pauseMs)
        const said = key.settle(at, delta, at - share(agoMs))
        expect(dropped.settle(at, delta, at - share(agoMs))).toEqual(said)
        expect(dropped.consume(at)).toEqual(key.consume(at))
      }
    })
  })

  test('cost 0 passes exactly if a unit would, and charges nothing', () => {
    afterTraffic(name, fc.constant(0), (key, now) => {
      const unit = key.ask(now, 1).admitted
      const before = key.fork()
      expect(key.consume(now, 0).admitted).toBe(unit)
      expect(key.ask(now, 1)).toEqual(before.ask(now, 1))
    })
  })

  test('a single unit never waits longer than a window', () => {
    afterTraffic(name, fc.constant(1), (key, now, { windowMs }) => {
      const { admitted, retryAfterMs } = key.ask(now, 1)
      if (!admitted) expect(retryAfterMs).toBeLessThanOrEqual(windowMs)
    })
  })

  test('nobody in line is admitted before the time that is said to be the earliest', () => {
    const anyLine = fc.array(fc.integer({ min: 1, max: 14 }), { minLength: 2, maxLength: 8 })
    afterTraffic(name, anyLine, (key, now, _params, line) => {
      const { limit } = key
      const costs = line.filter((cost) => cost <= fullQuota(key, now))
      const [first = 0] = costs
      const { admitted, retryAfterMs } = key.ask(now, first)
      if (admitted || retryAfterMs === Infinity) return
      const refusal = { at: now + retryAfterMs, free: first, limit: limit.units }
      let [time, ahead] = [refusal.at, 0]
      for (const cost of costs) {
        const earliest = limit.earliest?.({
          ...refusal,
          ...{ ahead, cost },
          windowMs: limit.windowMs,
        })
        let outcome = key.consume(time, cost)
        for (; !outcome.admitted; outcome = key.consume(time, cost)) time += outcome.retryAfterMs
        if (ahead + cost >= first)
          expect(time + outcome.delayMs).toBeGreaterThanOrEqual(earliest as number)
        ahead += cost
      }
    })
  })

  test('a client evenly spaced at its limit is never refused, whatever the phase', () => {
    const property = fc.property(anyParams(name), anyOffset, ({ limit, windowMs }, phase) => {
      // A burst of one has no room for what rounding down to the ms takes off a pause.
      const isBucket = name === 'token-bucket' || name === 'leaky-bucket'
      const round = isBucket ? Math.ceil : Math.floor
      const key = newKey(name, { limit, windowMs })
      const refused: number[] = []
      for (let i = 0; i < Math.min(3 * limit, 200); i += 1) {
        const at =
          START + phase + (isBucket ? i * round(windowMs / limit) : round((i * windowMs) / limit))
        if (!key.consume(at).admitted) refused.push(i)
      }
      expect(refused).toEqual([])
    })
    fc.assert(property, { numRuns: 300 })
  })
})
