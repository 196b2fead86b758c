import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { Leaps } from './leaps.ts'
import { LogEntry } from './log-entry.ts'

/** The times that come out, in the order of the lines. */
function replay(times: readonly number[]) {
  const gone: number[] = []
  const places: number[] = []
  const leaps = new Leaps((time, { client }) => {
    gone.push(time)
    places.push(client)
  })
  // Each line is of a client of its own, and the reader uses one entry for all.
  const entry = new LogEntry()
  for (const [client, time] of times.entries()) leaps.push(Object.assign(entry, { client, time }))
  leaps.flush()
  expect(places).toEqual([...times.keys()])
  return { gone, early: leaps.early }
}

const DAY = 86_400_000
const START = Date.UTC(2026, 10, 21)
/**
 * The ms from a line to the next: dense, sparse, and now and then a gap of days; out of order by a little.
 */
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
  it('gets the time of the next line if it is the first of a log', () => {
    const rest = Array.from({ length: 200 }, (_, i) => START + i * 1000)
    const { gone, early } = replay([START + 9000 * DAY, ...rest])
    expect({ gone, early }).toEqual({ gone: [START, ...rest], early: 1 })
  })

  it('gets the time of the line before it, and changes nothing for the lines around it', () => {
    fc.assert(
      fc.property(steps, fc.array(fc.nat({ max: 30 }), { maxLength: 5 }), (each, places) => {
        const times = timesOf(each)
        const last = times.at(-1) as number
        const future = last + 365 * DAY
        // Ten after each other, and enough lines behind them.
        const at = new Set(places.map((place) => 10 * Math.floor(place / 10)))
        const mixed = times.flatMap((time, i) => (at.has(i) ? [future + i, time] : [time]))
        const { gone, early } = replay(mixed)
        expect(early).toBe(at.size)
        expect(gone.filter((_, i) => (mixed[i] as number) < future)).toEqual(times)
        expect(Math.max(...gone)).toBeLessThan(future)
      }),
    )
  })

  it('does not exist if the log continues from there: gaps remain', () => {
    fc.assert(
      fc.property(steps, (each) => {
        const times = timesOf(each)
        expect(replay(times)).toEqual({ gone: times, early: 0 })
      }),
    )
  })

  it('is accepted as the last line, and as the only one', () => {
    for (const times of [[START, START + DAY], [START]]) {
      expect(replay(times)).toEqual({ gone: times, early: 0 })
    }
  })

  it('may be 31 lines in a row, and no more', () => {
    const rest = Array.from({ length: 200 }, (_, i) => START + i * 1000)
    const future = (count: number) => Array.from({ length: count }, (_, i) => START + DAY + i)
    expect(replay([...future(31), ...rest]).early).toBe(31)
    expect(replay([...future(64), ...rest]).early).toBe(0)
  })
})
