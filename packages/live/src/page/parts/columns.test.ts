import { expect, test } from '@jest/globals'
import type { Answer } from '../traffic/answer.ts'
import { columnsOf } from './columns.ts'

const answers = (...all: [number, number][]) =>
  all.map(([answeredAt, status]) => ({ answeredAt, status }) as Answer)

test('answers near in time share a column', () => {
  expect(columnsOf(answers([1000, 200], [1499, 429], [1499, 200], [1500, 429]))).toEqual([
    { from: 1000, admitted: 2, refused: 1 },
    { from: 1500, admitted: 0, refused: 1 },
  ])
  expect(columnsOf([])).toEqual([])
})
