import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import { NumberReader, NumberWriter } from './numbers.ts'

const edges = [0, 1, 127, 128, 2 ** 28 - 1, 2 ** 28, 2 ** 31 - 1, 2 ** 31, 2 ** 32, 2 ** 53 - 1]
const anyNumber = fc.oneof(fc.constantFrom(...edges), fc.maxSafeNat())
const anySigned = fc.integer({ min: -(2 ** 52), max: 2 ** 52 - 1 })

test('numbers are read as they were written, and behind them zeros', () => {
  const alike = fc.property(fc.array(fc.tuple(anyNumber, anySigned)), (pairs) => {
    const writer = new NumberWriter()
    for (const [number, signed] of pairs) {
      writer.put(number)
      writer.putSigned(signed)
    }
    const reader = new NumberReader(writer.done())
    for (const pair of pairs) expect([reader.next(), reader.nextSigned()]).toEqual(pair)
    expect([reader.next(), reader.nextSigned()]).toEqual([0, 0])
  })
  fc.assert(alike, { examples: [[edges.map((edge) => [edge, 0 - (edge % 2 ** 52)])]] })
})

test.each([
  [127, 1],
  [128, 2],
  [2 ** 28, 5],
  [2 ** 53 - 1, 8],
])('%d takes %d bytes', (number, bytes) => {
  const writer = new NumberWriter()
  writer.put(number)
  expect(writer.done()).toHaveLength(bytes)
})
