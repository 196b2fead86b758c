import { expect, test } from '@jest/globals'
import { CONCURRENT, WORK_MS } from '../../../limits.ts'
import type { Answer } from '../../traffic/answer.ts'
import { none } from '../../traffic/peak.ts'
import { concurrency } from './model.ts'

/** Answers after so long on their way, of which the server has worked for `WORK_MS`. */
const answer = (sentAt: number, onItsWay = 10) =>
  ({ sentAt, answeredAt: sentAt + WORK_MS + onItsWay }) as Answer

function mostOf(...answers: Answer[]): number {
  const [first, ...others] = answers
  let admitted = [first as Answer]
  let peak = concurrency.most?.after(none, admitted)
  for (const each of others) {
    admitted = [...admitted, each]
    peak = concurrency.most?.after(peak ?? none, admitted)
  }
  return peak?.count ?? 0
}

test('requests that overlap were in progress together', () => {
  expect(mostOf(answer(0), answer(50))).toBe(2)
  expect(mostOf(answer(0), answer(50), answer(90))).toBe(3)
})

test('one after the other is one at a time', () => {
  expect(mostOf(answer(0), answer(WORK_MS + 20), answer(2 * WORK_MS + 40))).toBe(1)
})

test('three of which no three overlap are two', () => {
  expect(mostOf(answer(0), answer(WORK_MS - 50), answer(WORK_MS + 50))).toBe(CONCURRENT)
})

test('what was long on its way may have come one after the other: nothing is claimed', () => {
  expect(mostOf(answer(0, WORK_MS + 1), answer(0, WORK_MS + 1))).toBe(0)
})
