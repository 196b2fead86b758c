import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { retryAfterMs } from './retry-after.ts'

const NOW = 1_795_176_000_000
const plain = { now: NOW, windowMs: 60_000, jitter: 0, seed: 'key' }
const jittery = { ...plain, jitter: 0.1 }

/** The wait in seconds, as Retry-After has it. */
const retryAfterSeconds = (ms: number, options: Parameters<typeof retryAfterMs>[1]) =>
  Math.ceil(retryAfterMs(ms, options) / 1000)

const wait = fc.integer({ min: 0, max: 2_147_483_000 })

describe('without jitter', () => {
  test('is 1*DIGIT from 1 to 2147483 for any number', () => {
    fc.assert(
      fc.property(fc.double(), fc.double({ min: 0, max: 1, noNaN: true }), (ms, jitter) => {
        const seconds = retryAfterSeconds(ms, { ...plain, jitter })
        expect(String(seconds)).toMatch(/^[1-9][0-9]{0,6}$/)
        expect(seconds).toBeLessThanOrEqual(2_147_483)
      }),
    )
  })

  test.each([
    [0, 1],
    [1, 1],
    [300, 1],
    [1000, 1],
    [1001, 2],
    [12_001, 13],
    [2_147_483_000, 2_147_483],
    [2_147_483_001, 2_147_483],
    [315_360_000_000, 2_147_483],
  ])('a wait of %d ms is %d s', (ms, seconds) => {
    expect(retryAfterSeconds(ms, plain)).toBe(seconds)
  })

  test('a wait that is infinite or not a number is reported as the window', () => {
    expect(retryAfterSeconds(Number.POSITIVE_INFINITY, plain)).toBe(60)
    expect(retryAfterSeconds(Number.NaN, plain)).toBe(60)
  })

  test('is long enough, and a second less is not', () => {
    fc.assert(
      fc.property(wait, (ms) => {
        const seconds = retryAfterSeconds(ms, plain)
        expect(seconds * 1000).toBeGreaterThanOrEqual(ms)
        if (seconds > 1) expect((seconds - 1) * 1000).toBeLessThan(ms)
      }),
    )
  })
})

describe('jitter', () => {
  test('only adds, at most its share and 30 s, and nothing below 5 s', () => {
    const share = fc.double({ min: 0, max: 1, noNaN: true })
    fc.assert(
      fc.property(wait, share, fc.string(), (ms, jitter, seed) => {
        const least = retryAfterSeconds(ms, plain)
        const added = retryAfterSeconds(ms, { ...plain, jitter, seed }) - least
        expect(added).toBeGreaterThanOrEqual(0)
        expect(added).toBeLessThanOrEqual(least < 5 ? 0 : Math.min(least * jitter, 30))
      }),
    )
  })

  test('adds nothing to 4 s, and something to 5 s', () => {
    const over = (ms: number) => {
      const all = Array.from({ length: 100 }, (_, i) => `key ${i}`)
      return new Set(all.map((seed) => retryAfterSeconds(ms, { ...plain, jitter: 1, seed })))
    }
    expect([...over(4000)]).toEqual([4])
    expect([...over(4001)].sort()).toEqual([5, 6, 7, 8, 9])
  })

  test('spreads the keys of one window evenly over the seconds that it may add', () => {
    const counts = new Array<number>(30).fill(0)
    for (let i = 0; i < 30_000; i++) {
      const options = { ...jittery, windowMs: 3_600_000, seed: `10.0.${i >> 8}.${i & 255}` }
      counts[retryAfterSeconds(3_600_000, options) - 3600]! += 1
    }
    // Binomial with mean 1000 and deviation 31: five deviations either way.
    for (const count of counts) expect(Math.abs(count - 1000)).toBeLessThan(155)
  })

  test('a key that asks again in the window is never sent further away', () => {
    for (const seed of ['a', 'b', '203.0.113.7', '2001:db8::/56']) {
      let latest = Number.POSITIVE_INFINITY
      for (let elapsed = 0; elapsed < 60_000; elapsed += 1000) {
        const options = { ...jittery, jitter: 0.5, now: NOW + elapsed, seed }
        const back = elapsed / 1000 + retryAfterSeconds(60_000 - elapsed, options)
        expect(back).toBeLessThanOrEqual(latest)
        latest = back
      }
    }
  })

  test('the jitter stays the same if the clocks of store and process differ by some milliseconds', () => {
    for (let i = 0; i < 100; i++) {
      const at = (skew: number) =>
        retryAfterSeconds(600_000, {
          ...jittery,
          windowMs: 600_000,
          now: NOW + skew,
          seed: `key ${i}`,
        })
      expect(new Set([at(-40), at(-1), at(0), at(1), at(40)]).size).toBe(1)
    }
  })

  test('another window has another jitter', () => {
    const draws = new Set<number>()
    for (let window = 0; window < 50; window++) {
      const now = NOW + window * 600_000
      draws.add(retryAfterSeconds(600_000, { ...jittery, windowMs: 600_000, now }))
    }
    expect(draws.size).toBeGreaterThan(15)
  })
})
