import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { LIMIT, WINDOW_MS } from '../../limits.ts'
import { bursts, edge, steady } from './index.ts'

const moment = fc.integer({ min: 1_800_000_000_000, max: 1_800_000_020_000 })

describe.each([edge, bursts, steady])('$name', (pattern) => {
  test('sends nothing in the past, in order, and ends within half a minute', () => {
    fc.assert(
      fc.property(moment, (now) => {
        const times = pattern.plan(now)
        expect(times).toEqual([...times].sort((a, b) => a - b))
        expect(times[0]).toBeGreaterThanOrEqual(now)
        expect(times.at(-1)).toBeLessThan(now + 30_000)
      }),
    )
  })
})

test('at the edge of a window: the limit on either side, all within three seconds', () => {
  fc.assert(
    fc.property(moment, (now) => {
      const times = edge.plan(now)
      const ends = Math.ceil((times[0] as number) / WINDOW_MS) * WINDOW_MS
      const before = times.filter((time) => time < ends && time > ends - 2000)
      const after = times.filter((time) => time > ends && time < ends + 1000)
      expect([before.length, after.length, times.length]).toEqual([LIMIT, LIMIT, 2 * LIMIT])
    }),
  )
})
