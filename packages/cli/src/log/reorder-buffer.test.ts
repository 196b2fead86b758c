import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { LogEntry } from './log-entry.ts'
import { ReorderBuffer, TOLERANCE_MS } from './reorder-buffer.ts'

/** What goes on, in order: times, and the place at which each line came. */
function reorder(times: readonly number[], capacity?: number) {
  const gone: { time: number; place: number }[] = []
  const buffer = new ReorderBuffer(
    ({ length, times, clients }) => {
      for (let i = 0; i < length; i += 1)
        gone.push({ time: times[i] as number, place: clients[i] as number })
    },
    false,
    capacity,
  )
  // Each line is of a client of its own.
  const entry = new LogEntry()
  for (const [place, time] of times.entries()) {
    entry.client = place
    buffer.push(time, entry)
  }
  buffer.flush()
  return { gone, late: buffer.late }
}

/** What the contract of the buffer says that goes on, and how many lines are late. */
function expected(times: readonly number[]) {
  let newest = -1
  let late = 0
  const lines = times.map((time, place) => {
    const isLate = time < newest - TOLERANCE_MS
    if (isLate) late += 1
    newest = Math.max(newest, time)
    return { time: isLate ? newest : time, place }
  })
  return { gone: lines.sort((a, b) => a.time - b.time || a.place - b.place), late }
}

/** The ms from a line to the next: mostly forward, sometimes back, rarely far. */
const steps = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: fc.integer({ min: 0, max: 3000 }) },
    { weight: 4, arbitrary: fc.integer({ min: -70_000, max: 0 }) },
    { weight: 1, arbitrary: fc.integer({ min: 0, max: 10_000_000 }) },
  ),
  { maxLength: 200 },
)

function timesOf(start: number, steps: readonly number[]): number[] {
  let time = start
  return steps.map((step) => {
    time = Math.max(0, time + step)
    return time
  })
}

describe('ReorderBuffer', () => {
  it('reorders lines that come up to a minute late, and no others', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2_000_000_000_000 }), steps, (start, each) => {
        const times = timesOf(start, each)
        expect(reorder(times)).toEqual(expected(times))
      }),
      { numRuns: 500 },
    )
  })

  it('takes a minute to the millisecond', () => {
    expect(reorder([100_000, 40_000]).late).toBe(0)
    expect(reorder([100_000, 39_999])).toEqual({
      gone: [
        { time: 100_000, place: 0 },
        { time: 100_000, place: 1 },
      ],
      late: 1,
    })
  })

  it('lets the oldest second go on early when too many lines wait, and stays in order', () => {
    fc.assert(
      fc.property(steps, fc.integer({ min: 1, max: 20 }), (each, capacity) => {
        const times = timesOf(1_000_000, each)
        const { gone, late } = reorder(times, capacity)
        const played = gone.map(({ time }) => time)
        expect(played).toEqual([...played].sort((a, b) => a - b))
        expect(gone.map(({ place }) => place).sort((a, b) => a - b)).toEqual([...times.keys()])
        expect(late).toBeGreaterThanOrEqual(expected(times).late)
      }),
    )
  })
})
