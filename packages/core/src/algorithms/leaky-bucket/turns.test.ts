import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import { anyOffset, anyParams, newKey } from '../testing/arbitraries.ts'
import { START } from '../testing/trace.ts'

/** A request: how long after the one before it comes, thousandths of the window, and its cost, units. */
const anyTaken = fc.record({ share: fc.integer({ min: 0, max: 300 }), cost: fc.nat(6) })
/** A request that was admitted before, the latest is 0, gives back so many thousandths of its cost. */
const anyGiven = fc.record({
  share: fc.integer({ min: 0, max: 300 }),
  turn: fc.nat(12),
  back: fc.constantFrom(1000, 1000, 500, 200),
  isKnown: fc.boolean(),
})
const anyHistory = fc.array(fc.oneof(anyTaken, anyTaken, anyGiven), { maxLength: 60 })

test('whoever gives turns back, those that are kept come one after the other', () => {
  const property = fc.property(
    anyParams('leaky-bucket'),
    anyOffset,
    anyHistory,
    (params, offset, history) => {
      const { limit, windowMs } = params
      const key = newKey('leaky-bucket', params)
      const turns: { at: number; startsAt: number; cost: number; remaining: number }[] = []
      let now = START + offset
      for (const each of history) {
        now += Math.floor((each.share * windowMs) / 1000)
        if ('cost' in each) {
          const { admitted, delayMs, remaining } = key.consume(now, each.cost)
          if (admitted) turns.push({ at: now, startsAt: now + delayMs, cost: each.cost, remaining })
          continue
        }
        const turn = turns.at(-1 - each.turn)
        if (turn === undefined) continue
        const units = Math.floor((each.back * turn.cost) / 1000)
        key.settle(now, -units, turn.at, each.isKnown ? turn.remaining : undefined)
        turn.cost -= units
        turn.remaining += units
      }
      const kept = turns.filter(({ cost }) => cost > 0)
      kept.sort((one, other) => one.startsAt - other.startsAt)
      for (const [i, { startsAt }] of kept.entries()) {
        let units = 0
        for (const { startsAt: nextAt, cost } of kept.slice(i)) {
          // What has its turn before takes this long; turns begin within the millisecond that was said.
          expect(units * windowMs).toBeLessThan((nextAt - startsAt + 1) * limit)
          units += cost
        }
      }
    },
  )
  fc.assert(property, { numRuns: 2000 })
  // A charge that was corrected twice, with what remained after it at first, took a later turn.
  fc.assert(property, { numRuns: 2000, seed: -110359924 })
})

test('the last turns are given back whole, one after the other', () => {
  const property = fc.property(
    anyParams('leaky-bucket'),
    anyOffset,
    fc.array(fc.nat(4), { maxLength: 20 }),
    (params, offset, costs) => {
      const now = START + offset
      const key = newKey('leaky-bucket', params)
      key.consume(now - 1, 1)
      const before = key.ask(now)
      const taken = costs.map((cost) => ({ ...key.consume(now, cost), cost }))
      for (const { admitted, cost, remaining } of taken.toReversed())
        if (admitted) key.settle(now, -cost, now, remaining)
      expect(key.ask(now)).toEqual(before)
    },
  )
  fc.assert(property, { numRuns: 500 })
})
