import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { LiveKeys } from './live-keys.ts'

const touches = fc.array(
  fc.record({
    step: fc.integer({ min: 0, max: 5000 }),
    client: fc.integer({ min: 0, max: 5 }),
    resetMs: fc.integer({ min: 0, max: 120_000 }),
  }),
  { maxLength: 150 },
)

describe('LiveKeys', () => {
  it('counts the keys that are not full, to the second in which they become so', () => {
    fc.assert(
      fc.property(touches, (given) => {
        const keys = new LiveKeys(60_000)
        const expiries = new Map<number, number>()
        let now = 1_795_269_630_000
        for (const { step, client, resetMs } of given) {
          now += step
          keys.touch(client, now, resetMs)
          expiries.set(client, resetMs === 0 ? 0 : Math.ceil((now + resetMs) / 1000))
          const live = [...expiries.values()].filter((expiry) => expiry > Math.floor(now / 1000))
          expect(keys.count).toBe(live.length)
        }
      }),
    )
  })

  it('survives a pause of years', () => {
    const keys = new LiveKeys(60_000)
    keys.touch(1, 0, 60_000)
    keys.touch(2, 1e12, 60_000)
    expect(keys.count).toBe(1)
  })
})
