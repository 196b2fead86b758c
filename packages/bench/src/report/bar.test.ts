import { describe, expect, it } from '@jest/globals'
import { bound, floor, goal } from './bar.ts'
import { addedTo, bestPeer } from './measurement.ts'
import type { Measurement } from './results.ts'

const row = (contender: string, ...samples: number[]) => ({ contender, samples })
const work = (...rows: Measurement['rows']): Measurement => ({ title: 'work', unit: 'ns', rows })

function verdict(ours: number[], atMost: number, peer: number[]) {
  const rows = [row('sluice', ...ours), row('peer', ...peer)] as const
  return goal(work(...rows), rows[0], atMost, rows[1]).goal?.verdict
}

describe('a goal', () => {
  it('says by which figures it is met', () => {
    const ours = row('sluice', 12, 12, 11, 12, 13)
    const peer = row('peer', 10, 10, 9, 10, 11)
    expect(goal(work(ours, peer), ours, 1.25, peer, 'some work')).toEqual({
      work: 'work',
      unit: 'ns',
      contender: 'sluice',
      figure: { median: 12, best: 11 },
      peer: 'peer',
      peerFigure: { median: 10, best: 9 },
      goal: { atMost: 1.25, verdict: 'met' },
      claim: 'some work',
    })
  })

  it('claims nothing where the rounds do not tell the two apart', () => {
    const [ours, peer] = [row('sluice', 10, 10, 10, 10), row('peer', 9, 11, 9, 11)]
    expect(goal(work(ours, peer), ours, 1.25, peer, 'some work').claim).toBeUndefined()
  })

  it('is missed where ours is above it', () => {
    expect(verdict([13, 13, 13, 13, 13], 1.25, [10, 10, 10, 10, 10])).toBe('not met')
  })

  it('is judged round for round: a slow round slows both', () => {
    expect(verdict([9, 90, 900, 9, 9], 1, [10, 100, 1000, 10, 10])).toBe('met')
  })

  it('is left open where the rounds disagree', () => {
    expect(verdict([10, 10, 10, 10, 10], 1, [9, 11, 30, 9, 12])).toBe('not distinguishable')
  })

  it('is left open where the best rounds say something else', () => {
    expect(verdict([9, 9, 9, 9, 9], 1, [10, 10, 10, 10, 8])).toBe('not distinguishable')
  })

  it('is left open where noise puts the peer below nothing', () => {
    expect(verdict([9, 9, 9, 9, 9], 1, [-1, -1, -1, -1, -1])).toBe('not distinguishable')
  })

  it('may be a number', () => {
    const ours = row('sluice', 160)
    const result = goal(work(ours), ours, 1, bound(ours, '160 bytes', 160))
    expect(result).toMatchObject({ peerFigure: { median: 160 }, goal: { verdict: 'met' } })
  })
})

it('a floor has no goal', () => {
  const [least, peer] = [row('floor', 1), row('peer', 2)]
  expect(floor(work(least, peer), least, peer).goal).toBeUndefined()
})

describe('the best peer', () => {
  it('has the least median, and is neither ours nor a floor', () => {
    const rows = [row('sluice', 1), row('floor: x', 1), row('slow', 3, 3, 1), row('fast', 2, 2, 9)]
    expect(bestPeer(work(...rows)).contender).toBe('fast')
  })
})

describe('what is added', () => {
  it('is taken within the rounds, and of the best rounds', () => {
    const bare = row('bare', 10, 30, 20)
    const rows = [bare, row('limiter', 15, 32, 26)]
    expect(addedTo(bare, rows)).toEqual([{ contender: 'limiter', samples: [5, 2, 6], best: 5 }])
  })
})
