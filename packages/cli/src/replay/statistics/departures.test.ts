import { describe, expect, it } from '@jest/globals'
import { Departures } from './departures.ts'
import { TrueWindow } from './true-window.ts'

describe('Departures', () => {
  it('count when their turn comes, in the order of their turns', () => {
    const window = new TrueWindow(1000, 1)
    const departures = new Departures(window)
    departures.add(0, 0, 7, 1)
    departures.add(0, 900, 7, 1)
    departures.add(10, 0, 8, 1)
    departures.add(20, 100, 8, 2)
    expect([window.peak(7, 0), window.peak(8, 0)]).toEqual([1, 1])
    departures.add(500, 0, 9, 1)
    expect([window.peak(7, 0), window.peak(8, 0)]).toEqual([1, 3])
    departures.leaveUntil(899)
    expect(window.peak(7, 0)).toBe(1)
    departures.leaveUntil(900)
    expect(window.peak(7, 0)).toBe(2)
    expect(window.most[0]).toEqual({ units: 3, client: 8, atMs: 120 })
  })
})
