import { expect, test } from '@jest/globals'
import { placeOf, rangeOf } from './bins.ts'

const bins = [
  { from: 1, to: 1, clients: 3 },
  { from: 2, to: 5, clients: 2 },
  { from: 6, to: 10, clients: 1 },
]

test.each([
  [0, 0, 'no peak keeps to it'],
  [1, 1, 'between two bins'],
  [3, 1.5, 'within a bin: 2 and 3 keep to it, 4 and 5 do not'],
  [5, 2, 'between two bins'],
  [10, 3, 'the highest peak'],
  [11, 3.5, 'beyond every peak'],
])('a limit of %d is at %d: %s', (limit, place) => {
  expect(placeOf(limit, bins)).toBe(place)
})

test('a bin with one peak shows that peak', () => {
  expect(bins.map(rangeOf)).toEqual(['1', '2–5', '6–10'])
})
