import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import { LIMIT } from '../../../limits.ts'
import { gaps, replay } from '../testing/replayed.ts'
import { answered, at, untouched } from './model.ts'

test('whatever comes, it draws what the limiter has in its log', () => {
  fc.assert(
    fc.property(gaps, (times) => {
      const { clock, peek, send } = replay('sliding-log')
      let state = untouched
      for (const gap of times) {
        clock.advance(gap)
        expect(at(state, clock())).toHaveLength(LIMIT - peek().remaining)
        state = answered(state, send())
      }
    }),
  )
})

test('if the fields show more or less than was seen, they are right', () => {
  const { send } = replay('sliding-log')
  for (let i = 0; i < 6; i += 1) send()
  const answer = send()
  expect(answered(untouched, answer)).toHaveLength(7)
  const seen = Array.from({ length: 9 }, (_, i) => answer.answeredAt - 100 + i)
  expect(answered(seen, answer)).toEqual([...seen.slice(3), answer.answeredAt])
})
