import { expect, it } from '@jest/globals'
import { CallLine, type Place } from './call-line.ts'

/** A line with calls, and their results. */
function lineOf(count: number) {
  const line = new CallLine()
  const begun: number[] = []
  const refused: number[] = []
  const places = Array.from({ length: count }, (_, i): Place => {
    return { state: 'waiting', begin: () => begun.push(i), refuse: () => refused.push(i) }
  })
  for (const place of places) line.enter(place)
  const leave = (from: number, to: number) => {
    for (const place of places.slice(from, to)) line.leave(place)
  }
  return { line, begun, refused, leave }
}

const upTo = (count: number, from = 0) => Array.from({ length: count - from }, (_, i) => from + i)

it('lets a thousand calls begin, and the others in order as those leave', () => {
  const { begun, refused, leave } = lineOf(5000)
  expect(begun).toEqual(upTo(1000))
  for (let from = 0; from < 5000; from += 500) leave(from, from + 500)
  expect(begun).toEqual(upTo(5000))
  expect(refused).toEqual([])
})

it('skips those that have left while they waited', () => {
  const { begun, leave } = lineOf(1010)
  leave(1000, 1009)
  leave(0, 1)
  expect(begun.slice(1000)).toEqual([1009])
  leave(1, 1000)
  expect(begun).toHaveLength(1001)
})

it('has room for ten thousand that wait, however often it was full', () => {
  const { begun, refused, leave } = lineOf(11_002)
  expect(refused).toEqual([11_000, 11_001])
  leave(0, 11_000)
  expect(begun).toEqual(upTo(11_000))
})

it('clear() refuses all that wait', () => {
  const { line, begun, refused, leave } = lineOf(1005)
  leave(1001, 1002)
  line.clear(new Error('down'))
  expect(refused).toEqual([1000, 1002, 1003, 1004])
  leave(0, 1000)
  expect(begun).toHaveLength(1000)
})
