import { describe, expect, it } from '@jest/globals'
import { judge, least } from './bar.ts'

const asked = { work: 'work', bar: 'less than the peer', unit: 'ns' } as const

describe('a bar', () => {
  it('is met, or missed', () => {
    expect(judge({ ...asked, ours: [1, 2, 3], allowed: 64 })).toEqual({
      ...asked,
      ours: 2,
      allowed: 64,
      verdict: 'pass',
    })
    expect(judge({ ...asked, ours: [80, 81, 82], allowed: 64 }).verdict).toBe('fail')
  })

  it('is judged round for round: a slow round slows both', () => {
    const peer = [10, 100, 1000]
    const ours = [4, 94, 994]
    expect(judge({ ...asked, ours, allowed: peer }).verdict).toBe('pass')
  })

  it('is left open where the rounds disagree', () => {
    const verdict = judge({ ...asked, ours: [10, 10, 10], allowed: [2, 11, 30] }).verdict
    expect(verdict).toBe('not distinguishable')
  })

  it('compares with the best of the peers', () => {
    const rows = [
      { contender: 'slow', samples: [3, 3, 1] },
      { contender: 'fast', samples: [2, 2, 9] },
    ]
    expect(least(rows).contender).toBe('fast')
  })
})
