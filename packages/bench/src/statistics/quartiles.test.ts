import { describe, expect, it } from '@jest/globals'
import {
  differences,
  interquartileRange,
  isDistinguishable,
  median,
  quantile,
} from './quartiles.ts'

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

describe('a difference', () => {
  it('is taken within the round', () => {
    expect(differences([5, 7], [1, 10])).toEqual([4, -3])
  })

  it('has a spread that one outlier does not make', () => {
    expect(interquartileRange([1, 2, 3, 4, 1000])).toBe(2)
  })

  it.each([
    [[10, 11, 12], true],
    [[-10, -11, -12], true],
    [[-5, 1, 6], false],
    [[1, 2, 9], false],
    [[0, 0, 0], true],
  ])('of %j is told from the noise: %s', (samples, told) => {
    expect(isDistinguishable(samples)).toBe(told)
  })
})
