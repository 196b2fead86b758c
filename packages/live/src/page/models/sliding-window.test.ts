import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import { LIMIT } from '../../limits.ts'
import { gaps, replay } from './replayed.ts'
import { answered, at, shareInside, untouched } from './sliding-window.ts'

test('whatever comes, it draws what the limiter estimates', () => {
  fc.assert(
    fc.property(gaps, (times) => {
      const { clock, peek, send } = replay('sliding-window')
      let state = untouched
      for (const gap of times) {
        clock.advance(gap)
        const now = at(state, clock())
        const previous = Math.ceil(now.previous * shareInside(now, clock()) - 1e-9)
        expect(now.current + previous).toBe(LIMIT - peek().remaining)
        state = answered(state, send())
      }
    }),
  )
})

test('where the fields tell more than was seen, they are right', () => {
  const { send } = replay('sliding-window')
  for (let i = 0; i < 6; i += 1) send()
  expect(answered(untouched, send())).toMatchObject({ previous: 0, current: 7 })
})
