import { describe, expect, it } from '@jest/globals'
import { Log } from './log.ts'

/** Places that its arrays hold, used or not. */
function roomOf(log: Log): number {
  const arrays = Object.values(log).filter((value) => Array.isArray(value))
  expect(arrays).toHaveLength(2)
  return Math.max(...arrays.map(({ length }) => length))
}

describe('the room of a log', () => {
  it('stays in proportion to its entries, however many have passed through', () => {
    const log = new Log()
    for (let now = 0; now < 10_000; now += 1) {
      log.dropUntil(now - 10)
      log.append(now, 1)
    }
    expect(log.length).toBe(10)
    expect(roomOf(log)).toBeLessThanOrEqual(24)
  })

  it('is given back when a burst has left the window', () => {
    const log = new Log()
    for (let now = 0; now < 1000; now += 1) log.append(now, 1)
    log.dropUntil(1000)
    expect([log.length, roomOf(log)]).toEqual([0, 0])
    log.append(2000, 3)
    expect([log.length, log.total, log.time(0)]).toEqual([1, 3, 2000])
  })
})
