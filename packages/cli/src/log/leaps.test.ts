import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { Leaps } from './leaps.ts'

/** What goes on, in the order in which it came. */
function judge(times: readonly number[]) {
  const gone: number[] = []
  const places: number[] = []
  const leaps = new Leaps((time, place) => {
    gone.push(time)
    places.push(place)
  })
  for (const [place, time] of times.entries()) leaps.push(time, place)
  leaps.flush()
  expect(places).toEqual([...times.keys()])
  return { gone, early: leaps.early }
}

const DAY = 86_400_000
const START = Date.UTC(2026, 10, 21)
/** From a line to the next: dense, sparse, and now and then a gap of days; out of order by a little. */
const steps = fc.array(
  fc.oneof(
    { weight: 8, arbitrary: fc.integer({ min: -20_000, max: 25_000 }) },
    { weight: 2, arbitrary: fc.integer({ min: 0, max: 1_000_000 }) },
    { weight: 1, arbitrary: fc.integer({ min: 0, max: 5 * DAY }) },
  ),
  { minLength: 100, maxLength: 300 },
)

function timesOf(steps: readonly number[]): number[] {
  let latest = START
  return steps.map((step) => {
    const time = latest + step
    latest = Math.max(latest, time)
    return time
  })
}

describe('a line from the future', () => {
  it('as the first of a log goes on at the time of the next', () => {
    const rest = Array.from({ length: 200 }, (_, i) => START + i * 1000)
    const { gone, early } = judge([START + 9000 * DAY, ...rest])
    expect({ gone, early }).toEqual({ gone: [START, ...rest], early: 1 })
  })

  it('goes on when it came, and changes nothing for the lines around it', () => {
    fc.assert(
      fc.property(steps, fc.array(fc.nat({ max: 30 }), { maxLength: 5 }), (each, places) => {
        const times = timesOf(each)
        const last = times.at(-1) as number
        const future = last + 365 * DAY
        // Ten after each other, and enough lines behind them.
        const at = new Set(places.map((place) => 10 * Math.floor(place / 10)))
        const mixed = times.flatMap((time, i) => (at.has(i) ? [future + i, time] : [time]))
        const { gone, early } = judge(mixed)
        expect(early).toBe(at.size)
        expect(gone.filter((_, i) => (mixed[i] as number) < future)).toEqual(times)
        expect(Math.max(...gone)).toBeLessThan(future)
      }),
    )
  })

  it('is none where lines go on from there: gaps are left as they are', () => {
    fc.assert(
      fc.property(steps, (each) => {
        const times = timesOf(each)
        expect(judge(times)).toEqual({ gone: times, early: 0 })
      }),
    )
  })

  it('is believed where it is the last, and in a log of one', () => {
    for (const times of [[START, START + DAY], [START]]) {
      expect(judge(times)).toEqual({ gone: times, early: 0 })
    }
  })

  it('may be 31 lines in a row, and no more', () => {
    const rest = Array.from({ length: 200 }, (_, i) => START + i * 1000)
    const future = (count: number) => Array.from({ length: count }, (_, i) => START + DAY + i)
    expect(judge([...future(31), ...rest]).early).toBe(31)
    expect(judge([...future(64), ...rest]).early).toBe(0)
  })
})
