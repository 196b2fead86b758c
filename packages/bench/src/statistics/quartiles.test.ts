import { describe, expect, it } from '@jest/globals'
import { interquartileRange, median, quantile } from './quartiles.ts'

describe('quantiles', () => {
  it.each([
    [[3], 3],
    [[2, 1], 1.5],
    [[9, 1, 5], 5],
    [[4, 1, 3, 2], 2.5],
    [[10, 9, 100], 10],
  ])('the median of %j is %d', (samples, expected) => {
    expect(median(samples)).toBe(expected)
  })

  it('lie between the samples in proportion', () => {
    expect([0, 0.25, 0.5, 0.75, 1].map((share) => quantile([10, 20, 30, 40, 50], share))).toEqual([
      10, 20, 30, 40, 50,
    ])
    expect(quantile([0, 10], 0.3)).toBeCloseTo(3)
  })

  it('leave the samples in their order', () => {
    const samples = [3, 1, 2]
    median(samples)
    expect(samples).toEqual([3, 1, 2])
  })

  it('are none of no samples', () => {
    expect(() => median([])).toThrow(RangeError)
  })

  it('keep infinite samples', () => {
    expect(median([1, Infinity, Infinity])).toBe(Infinity)
  })
})

it('the middle half has a width that one outlier does not make', () => {
  expect(interquartileRange([1, 2, 3, 4, 1000])).toBe(2)
})
