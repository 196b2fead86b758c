import { describe, expect, it } from '@jest/globals'
import { differences, isDistinguishable } from './differences.ts'

const times = (count: number, value: number) => new Array<number>(count).fill(value)

describe('a difference', () => {
  it('is taken within the round', () => {
    expect(differences([5, 7], [1, 10])).toEqual([4, -3])
  })

  it.each([
    { above: 5, below: 0, real: true },
    { above: 0, below: 5, real: true },
    { above: 4, below: 0, real: false },
    { above: 4, below: 1, real: false },
    { above: 20, below: 7, real: true },
    { above: 18, below: 9, real: false },
  ])('in $above rounds and against it in $below is real: $real', ({ above, below, real }) => {
    expect(isDistinguishable([...times(above, 1), ...times(below, -1)])).toBe(real)
  })

  it('is real whatever one slow round says', () => {
    expect(isDistinguishable([...times(9, 1), -1000])).toBe(true)
  })

  it('is none where the rounds are equal, or where there was one', () => {
    expect(isDistinguishable(times(5, 0))).toBe(true)
    expect(isDistinguishable([3])).toBe(true)
  })
})
