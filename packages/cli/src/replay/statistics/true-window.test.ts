import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { TrueWindow } from './true-window.ts'

interface Added {
  readonly step: number
  readonly client: number
  readonly cost: number
  readonly mask: number
}

const added = fc.array(
  fc.record({
    step: fc.oneof(fc.integer({ min: 0, max: 40 }), fc.integer({ min: 0, max: 2 ** 33 })),
    client: fc.integer({ min: 0, max: 3 }),
    cost: fc.integer({ min: 0, max: 4 }),
    mask: fc.integer({ min: 0, max: 7 }),
  }),
  { maxLength: 120 },
)

/** The peaks and the most, found by looking at every window that ends with an entry. */
function naive(entries: readonly (Added & { at: number })[], windowMs: number, lane: number) {
  const peaks = [0, 0, 0, 0]
  let most = { units: 0, client: -1, atMs: 0 }
  for (const [i, { client, at, mask }] of entries.entries()) {
    if (((mask >> lane) & 1) === 0) continue
    const units = entries
      .slice(0, i + 1)
      .filter((each) => each.client === client && ((each.mask >> lane) & 1) === 1)
      .filter((each) => each.at > at - windowMs)
      .reduce((total, each) => total + each.cost, 0)
    peaks[client] = Math.max(peaks[client] as number, units)
    if (units > most.units) most = { units, client, atMs: at }
  }
  return { peaks, most }
}

describe('TrueWindow', () => {
  it('knows the most of each client in any window, as a look at all of them does', () => {
    fc.assert(
      fc.property(added, fc.integer({ min: 1, max: 200 }), (given, windowMs) => {
        let at = 1_795_269_630_000
        const entries = given.map((each) => {
          at += each.step
          return { ...each, at }
        })
        const window = new TrueWindow(windowMs, 3)
        for (const each of entries) window.add(each.at, each.client, each.cost, each.mask)
        for (const lane of [0, 1, 2]) {
          const { peaks, most } = naive(entries, windowMs, lane)
          expect([0, 1, 2, 3].map((client) => window.peak(client, lane))).toEqual(peaks)
          expect(window.most[lane]).toEqual(most)
        }
      }),
      { numRuns: 500 },
    )
  })

  it('stays right over many pages, and where costs begin to differ in the middle of one', () => {
    const window = new TrueWindow(10_000, 1)
    for (let i = 0; i < 50_000; i += 1) window.add(i, i % 7, i === 30_000 ? 5 : 1, 1)
    // 10,000 entries of seven clients: 1429 of some, 1428 of others, and four more once.
    expect([0, 1, 2, 3, 4, 5, 6].map((client) => window.peak(client, 0))).toEqual(
      [0, 1, 2, 3, 4, 5, 6].map((client) => (client === 30_000 % 7 ? 1433 : 1429)),
    )
  })

  it('has no count for a client that it has not seen', () => {
    expect(new TrueWindow(1, 2).peak(1_000_000, 1)).toBe(0)
  })
})
