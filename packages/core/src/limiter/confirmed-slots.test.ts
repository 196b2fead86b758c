import { expect, test } from '@jest/globals'
import { ConfirmedSlots } from './confirmed-slots.ts'

test('gives two at a time, each once', () => {
  const slots = new ConfirmedSlots()
  for (const slot of [1, 2, 3]) slots.add('ada', slot)
  slots.add('bob', 4)
  const taken = [slots.take('ada'), slots.take('ada'), slots.take('ada')].map((each) => each.length)
  expect(taken).toEqual([2, 1, 0])
  expect(slots.take('bob')).toEqual([4])
})

test('keeps two thousand of a key, and of the ten thousand keys that came last', () => {
  const slots = new ConfirmedSlots()
  for (let slot = 1; slot <= 2001; slot += 1) slots.add('ada', slot)
  let count = 0
  for (let taken = slots.take('ada'); taken.length > 0; taken = slots.take('ada'))
    count += taken.length
  expect(count).toBe(2000)
  for (let i = 0; i <= 10_000; i += 1) slots.add(`${i}`, 1)
  expect([slots.take('0'), slots.take('1')]).toEqual([[], [1]])
})
