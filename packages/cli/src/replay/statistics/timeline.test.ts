import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { MOST_STEPS, TimelineCounts } from './timeline.ts'

function count(times: readonly number[]) {
  const timeline = new TimelineCounts(2)
  for (const time of times) {
    timeline.enter(time)
    timeline.count(1)
  }
  return timeline
}

describe('TimelineCounts', () => {
  it('counts all, in steps that begin at multiples of their length', () => {
    const steps = fc.array(fc.integer({ min: 0, max: 400_000 }), { minLength: 1, maxLength: 200 })
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1_795_269_630_000 }), steps, (start, gaps) => {
        let at = start
        const times = gaps.map((gap) => (at += gap))
        const timeline = count(times)
        const { startMs, stepMs } = timeline
        const expected = timeline.of(1).map((_, i) => {
          const from = startMs + i * stepMs
          return times.filter((time) => time >= from && time < from + stepMs).length
        })
        expect(timeline.of(1)).toEqual(expected)
        expect(timeline.of(0)).toEqual(expected.map(() => 0))
        expect(expected.reduce((one, other) => one + other)).toBe(times.length)
        expect(startMs % stepMs).toBe(0)
      }),
    )
  })

  it('takes longer steps only when there are too many', () => {
    const seconds = Array.from({ length: MOST_STEPS }, (_, i) => i * 1000)
    expect(count(seconds).stepMs).toBe(1000)
    expect(count([...seconds, MOST_STEPS * 1000]).stepMs).toBe(5000)
  })

  it('has room for all the time there is', () => {
    const timeline = count([0, 253_402_300_799_999])
    expect(timeline.of(1).length).toBeLessThanOrEqual(MOST_STEPS)
    expect(timeline.of(1).reduce((one, other) => one + other)).toBe(2)
  })
})
