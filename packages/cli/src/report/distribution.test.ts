import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { binsOf, quantile, quantilesOf } from './distribution.ts'

const peaks = fc
  .array(fc.integer({ min: 1, max: 100_000 }), { minLength: 1, maxLength: 300 })
  .map((each) => Float64Array.from(each).sort())

describe('binsOf', () => {
  it('has each peak in one bin, without gaps, from the lowest to the highest', () => {
    fc.assert(
      fc.property(peaks, (sorted) => {
        const bins = binsOf(sorted)
        expect(bins[0]?.from).toBe(sorted[0])
        expect(bins.at(-1)?.to).toBeGreaterThanOrEqual(sorted.at(-1) as number)
        for (const [i, { from, to, clients }] of bins.entries()) {
          expect(clients).toBe(sorted.filter((peak) => peak >= from && peak <= to).length)
          expect(from).toBe(i === 0 ? sorted[0] : (bins[i - 1]?.to as number) + 1)
        }
        expect(bins.reduce((total, { clients }) => total + clients, 0)).toBe(sorted.length)
      }),
    )
  })

  it('gives each peak a bin of its own where they are low', () => {
    expect(binsOf(Float64Array.of(1, 1, 3))).toEqual([
      { from: 1, to: 1, clients: 2 },
      { from: 2, to: 2, clients: 0 },
      { from: 3, to: 3, clients: 1 },
    ])
    expect(binsOf(new Float64Array())).toEqual([])
  })
})

describe('quantile', () => {
  it('is the lowest peak that so many clients do not exceed', () => {
    fc.assert(
      fc.property(peaks, fc.integer({ min: 1, max: 10_000 }), (sorted, share) => {
        const limit = quantile(sorted, share)
        const within = (most: number) => sorted.filter((peak) => peak <= most).length
        expect(within(limit) * 10_000).toBeGreaterThanOrEqual(share * sorted.length)
        expect(within(limit - 1) * 10_000).toBeLessThan(share * sorted.length)
      }),
    )
  })

  it('is exact where shares of clients are whole', () => {
    const sorted = Float64Array.from({ length: 700 }, (_, i) => i + 1)
    expect(quantile(sorted, 9900)).toBe(693)
    expect(quantilesOf(sorted).at(-1)).toEqual({ share: 1, peak: 700 })
    expect(quantilesOf(new Float64Array())).toEqual([])
  })
})
