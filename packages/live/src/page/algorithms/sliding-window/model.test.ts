import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import { LIMIT } from '../../../limits.ts'
import { gaps, replay } from '../testing/replayed.ts'
import { answered, at, shareInside, untouched } from './model.ts'

test('whatever comes, it draws what the limiter estimates', () => {
  fc.assert(
    fc.property(gaps, (times) => {
      const { clock, peek, send } = replay('sliding-window')
      let state = untouched
      for (const gap of times) {
        clock.advance(gap)
        const now = at(state, clock())
        const previous = Math.floor(now.previous * shareInside(now, clock()) + 1e-9)
        expect(now.current + previous).toBe(LIMIT - peek().remaining)
        state = answered(state, send())
      }
    }),
  )
})

test('a slow answer does not restart the count', () => {
  const { clock, send } = replay('sliding-window')
  clock.set(1_800_000_009_000)
  let state = untouched
  for (let i = 0; i < LIMIT; i += 1) state = answered(state, send())
  clock.set(1_800_000_010_500)
  state = answered(state, send())
  const refused = send()
  state = answered(state, { ...refused, answeredAt: refused.sentAt + 2500 })
  expect(state).toMatchObject({ previous: LIMIT, current: 1 })
})

test('if the fields show more than was seen, they are right', () => {
  const { send } = replay('sliding-window')
  for (let i = 0; i < 6; i += 1) send()
  expect(answered(untouched, send())).toMatchObject({ previous: 0, current: 7 })
})
