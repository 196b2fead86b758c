import { describe, expect, it, test } from '@jest/globals'
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
      log.add(now, 1)
    }
    expect(log.length).toBe(10)
    expect(roomOf(log)).toBeLessThanOrEqual(24)
  })

  it('is released when a burst has left the window', () => {
    const log = new Log()
    for (let now = 0; now < 1000; now += 1) log.add(now, 1)
    log.dropUntil(1000)
    expect([log.length, roomOf(log)]).toEqual([0, 0])
    log.add(2000, 3)
    expect([log.length, log.total, log.time(0)]).toEqual([1, 3, 2000])
  })
})

describe('a correction', () => {
  function logOf(...entries: [time: number, cost: number][]): Log {
    const log = new Log()
    for (const entry of entries) log.add(...entry)
    return log
  }
  const entriesOf = (log: Log) =>
    Array.from({ length: log.length }, (_, i) => [log.time(i), log.cost(i)])

  it('leaves no empty entry, wherever it was', () => {
    const log = logOf([1, 2], [2, 1], [3, 1], [4, 5])
    log.takeBack(3, 1)
    expect(entriesOf(log)).toEqual([
      [1, 2],
      [2, 1],
      [4, 5],
    ])
    log.takeBack(2, 2)
    expect(entriesOf(log)).toEqual([
      [1, 1],
      [4, 5],
    ])
    log.takeBack(4, 9)
    expect([entriesOf(log), log.total]).toEqual([[], 0])
  })

  it('does not touch later entries', () => {
    const log = logOf([10, 2], [20, 2])
    log.takeBack(9, 2)
    log.takeBack(19, 5)
    expect([entriesOf(log), log.total]).toEqual([[[20, 2]], 2])
  })

  it('keeps a log short whose requests are all settled to nothing', () => {
    const log = logOf([0, 1])
    for (let now = 1; now < 1000; now += 1) {
      log.add(now, 1)
      log.add(now + 1, 1)
      log.takeBack(now, 1)
      log.takeBack(now + 1, 1)
    }
    expect([log.length, roomOf(log)]).toEqual([1, 1])
  })
})

test('units charged at an earlier time are kept in order and join existing entries', () => {
  const log = new Log()
  log.add(10, 1)
  log.add(30, 1)
  log.add(20, 2)
  log.add(5, 4)
  log.add(30, 3)
  expect(Array.from({ length: log.length }, (_, i) => [log.time(i), log.cost(i)])).toEqual([
    [5, 4],
    [10, 1],
    [20, 2],
    [30, 4],
  ])
})
