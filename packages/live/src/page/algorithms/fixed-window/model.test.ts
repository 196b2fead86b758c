import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import { LIMIT, WINDOW_MS } from '../../../limits.ts'
import { gaps, replay } from '../testing/replayed.ts'
import { answered, at, untouched } from './model.ts'

test('whatever comes, it draws what the limiter counts', () => {
  fc.assert(
    fc.property(gaps, (times) => {
      const { clock, peek, send } = replay('fixed-window')
      let state = untouched
      for (const gap of times) {
        clock.advance(gap)
        expect(at(state, clock()).used).toBe(LIMIT - peek().remaining)
        state = answered(state, send())
        expect(state.endsAt).toBe((Math.floor(clock() / WINDOW_MS) + 1) * WINDOW_MS)
      }
    }),
  )
})

test('an answer from just before an edge that comes after it belongs to the old window', () => {
  const { clock, send } = replay('fixed-window')
  clock.set(1_800_000_009_990)
  const answer = { ...send(), answeredAt: 1_800_000_010_040 }
  const state = answered(untouched, answer)
  expect(state).toEqual({ used: 1, endsAt: 1_800_000_010_000 })
  expect(at(state, answer.answeredAt)).toEqual({ used: 0, endsAt: 1_800_000_020_000 })
})
