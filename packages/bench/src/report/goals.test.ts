import { describe, expect, it } from '@jest/globals'
import { judge } from './goals.ts'
import { addedTo, bestPeer } from './measurement.ts'
import type { Measurement } from './results.ts'

const row = (contender: string, ...samples: number[]) => ({ contender, samples })
const work = (...rows: Measurement['rows']): Measurement => ({ title: 'work', unit: 'ns', rows })

const aims = { work: 'work', ours: 'sluice', peer: 'peer' }

function judgeOne(ours: number[], atMost: number, peer: number[], claim?: string) {
  const measured = work(row('sluice', ...ours), row('peer', ...peer))
  return judge([measured], [{ ...aims, atMost, claim }])[0]
}

const verdict = (ours: number[], atMost: number, peer: number[]) =>
  judgeOne(ours, atMost, peer)?.verdict

describe('a goal', () => {
  it('says by which figures it is met', () => {
    const judged = judgeOne([12, 12, 11, 12, 13], 1.25, [10, 10, 9, 10, 11], 'some work')
    const figures = { figure: 12, peerFigure: 10 }
    expect(judged).toEqual({
      ...aims,
      ...figures,
      atMost: 1.25,
      verdict: 'met',
      claim: 'some work',
    })
  })

  it('claims nothing where the rounds do not tell the two apart', () => {
    const judged = judgeOne([10, 10, 10, 10], 1.25, [9, 11, 9, 11], 'some work')
    expect(judged?.claim).toBeUndefined()
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
    const bound = { ...aims, peer: '160 bytes', atMost: 1 }
    const [judged] = judge([work(row('sluice', 160))], [bound])
    expect(judged).toMatchObject({ peerFigure: 160, verdict: 'met' })
  })

  it('needs a measurement', () => {
    expect(judge([], [{ ...aims, atMost: 1 }])).toEqual([])
  })
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
