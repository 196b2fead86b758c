import {
  admits,
  HOUR,
  MONTH,
  refuses,
  settles,
  TEN_YEARS,
  type Trace,
  traces,
} from '../testing/trace.ts'

// The bucket refills limit/window units a ms, here in parts of 1/window (or of the reduced
// fraction): so many are missing, so many come back per ms, and a unit is admitted if it is whole.
// While r units remain the effective window is the time in which r units refill, which keeps
// r/t at the rate; with none left it is the time until one is whole.
const threeASecond = { limit: 3, windowMs: 1000 }
const threeAMinute = { limit: 3, windowMs: 60_000 }
const largeBurst = { limit: 2, windowMs: 1000, burst: 10 }
const smallBurst = { limit: 10, windowMs: 1000, burst: 1 }
const tenMillionAMonth = { limit: 1e7, windowMs: MONTH }
const largest = { limit: 1e12, windowMs: TEN_YEARS, from: 5 * TEN_YEARS }

export const tokenBucketTraces: readonly Trace[] = [
  ...traces(threeASecond, {
    'starts full, refuses one over, refills 3 in 1000 ms and not in 999': [
      // A unit is 1000 parts, 3 refill per ms: 1000/3 = 333.3, 2000/3 = 666.7.
      admits(0, 1, { remaining: 2, resetMs: 334, effectiveMs: 667 }),
      admits(0, 1, { remaining: 1, resetMs: 667, effectiveMs: 334 }),
      admits(0, 1, { remaining: 0, resetMs: 1000, effectiveMs: 334 }),
      refuses(0, 1, { remaining: 0, resetMs: 1000, retryAfterMs: 334 }),
      // 3000 − 999 = 2001 are missing
      refuses(333, 1, { remaining: 0, resetMs: 667, retryAfterMs: 1 }),
      // 3000 − 1002 + 1000 = 2998 are missing: 998 until a unit is whole
      admits(334, 1, { remaining: 0, resetMs: 1000, effectiveMs: 333 }),
      refuses(666, 1, { remaining: 0, resetMs: 668, retryAfterMs: 1 }),
      // 2998 − 999 + 1000 = 2999
      admits(667, 1, { remaining: 0, resetMs: 1000, effectiveMs: 333 }),
      refuses(999, 1, { remaining: 0, resetMs: 668, retryAfterMs: 1 }),
      // 2999 − 999 + 1000 = 3000: as at 0, with nothing lost to rounding
      admits(1000, 1, { remaining: 0, resetMs: 1000, effectiveMs: 334 }),
    ],
    'cost 0 passes while a whole unit remains': [
      admits(0, 0, { remaining: 3, resetMs: 0, effectiveMs: 1000 }),
      admits(0, 3, { remaining: 0, resetMs: 1000, effectiveMs: 334 }),
      refuses(0, 0, { remaining: 0, resetMs: 1000, retryAfterMs: 334 }),
      refuses(333, 0, { remaining: 0, resetMs: 667, retryAfterMs: 1 }),
      admits(334, 0, { remaining: 1, resetMs: 666, effectiveMs: 334 }),
    ],
    'settle gives back what has not drained since the charge': [
      admits(0, 3, { remaining: 0, resetMs: 1000, effectiveMs: 334 }),
      // 3000 − 1500 + 1000 are missing
      admits(500, 1, { remaining: 0, resetMs: 834, effectiveMs: 167 }),
      // 1500 of the 3000 have drained, and are in the hands of others: 2500 − 1500 stay.
      settles(500, { delta: -3, chargedAt: 0 }, { remaining: 2, resetMs: 334 }),
      // 1000 − 600; of one unit 1000 − 600 is still there.
      settles(700, { delta: -1, chargedAt: 500 }, { remaining: 3, resetMs: 0 }),
      admits(700, 3, { remaining: 0, resetMs: 1000, effectiveMs: 334 }),
      // A unit takes 333.3 ms to drain: nothing of it is left after 334.
      settles(1034, { delta: -1, chargedAt: 700 }, { remaining: 1, resetMs: 666 }),
      settles(1033, { delta: -1, chargedAt: 2000 }, { remaining: 2, resetMs: 333 }),
    ],
  }),
  ...traces(largeBurst, {
    'burst above the limit: 10, and 2 in 1000 ms': [
      admits(0, 10, { remaining: 0, resetMs: 5000, effectiveMs: 500 }),
      refuses(0, 1, { remaining: 0, resetMs: 5000, retryAfterMs: 500 }),
      refuses(499, 1, { remaining: 0, resetMs: 4501, retryAfterMs: 1 }),
      admits(500, 1, { remaining: 0, resetMs: 5000, effectiveMs: 500 }),
      refuses(500, 11, { remaining: 0, resetMs: 5000, retryAfterMs: Infinity }),
      refuses(500, 10, { remaining: 0, resetMs: 5000, retryAfterMs: 5000 }),
      refuses(5499, 10, { remaining: 9, resetMs: 1, retryAfterMs: 1 }),
      admits(5500, 10, { remaining: 0, resetMs: 5000, effectiveMs: 500 }),
    ],
  }),
  ...traces(smallBurst, {
    'burst below the limit: one at a time, 10 in 1000 ms': [
      admits(0, 1, { remaining: 0, resetMs: 100, effectiveMs: 100 }),
      refuses(0, 2, { remaining: 0, resetMs: 100, retryAfterMs: Infinity }),
      refuses(99, 1, { remaining: 0, resetMs: 1, retryAfterMs: 1 }),
      admits(100, 1, { remaining: 0, resetMs: 100, effectiveMs: 100 }),
    ],
  }),
  ...traces(threeAMinute, {
    'the clock steps back an hour: nothing refills meanwhile, then as usual': [
      admits(0, 3, { remaining: 0, resetMs: 60_000, effectiveMs: 20_000 }),
      refuses(-HOUR, 1, { remaining: 0, resetMs: 60_000, retryAfterMs: 20_000 }),
      refuses(-HOUR + 19_999, 1, { remaining: 0, resetMs: 40_001, retryAfterMs: 1 }),
      admits(-HOUR + 20_000, 1, { remaining: 0, resetMs: 60_000, effectiveMs: 20_000 }),
      // And forward again: one full quota.
      admits(0, 3, { remaining: 0, resetMs: 60_000, effectiveMs: 20_000 }),
      refuses(0, 1, { remaining: 0, resetMs: 60_000, retryAfterMs: 20_000 }),
    ],
    'a debt as large as can be counted, and its end to the ms': [
      // A unit is 20000 parts, one refills per ms. What is missing, and the units asked for, are
      // together more than 2^53 parts.
      settles(
        0,
        { delta: 450_359_962_737, chargedAt: 0 },
        { remaining: 0, resetMs: 9_007_199_254_740_000 },
      ),
      refuses(1, 2, {
        remaining: 0,
        resetMs: 9_007_199_254_739_999,
        retryAfterMs: 9_007_199_254_719_999,
      }),
    ],
  }),
  ...traces(tenMillionAMonth, {
    '10^7 in a month, exact to the ms': [
      // 10^7 / MONTH = 5/1296: a unit in 259.2 ms
      admits(0, 1e7, { remaining: 0, resetMs: MONTH, effectiveMs: 260 }),
      refuses(259, 1, { remaining: 0, resetMs: MONTH - 259, retryAfterMs: 1 }),
      // 1300 − 1296 = 4 parts are there: 1292 until the next unit, 258.4 ms
      admits(260, 1, { remaining: 0, resetMs: MONTH, effectiveMs: 259 }),
    ],
  }),
  ...traces(largest, {
    '10^12 in ten years: ticks of 35036749.2 ms': [
      // ⌊(2^53 − 1) / 10^12⌋ = 9007 ticks, the first one at ⌈TEN_YEARS / 9007⌉ = 35036750 ms
      admits(0, 1e12, { remaining: 0, resetMs: TEN_YEARS, effectiveMs: 35_036_750 }),
      refuses(35_036_749, 1, { remaining: 0, resetMs: TEN_YEARS - 35_036_749, retryAfterMs: 1 }),
      // 10^12 / 9007 = 111024758.5 refill in a tick; the second one is at ⌈70073498.4⌉
      admits(35_036_750, 111_024_758, {
        remaining: 0,
        resetMs: TEN_YEARS,
        effectiveMs: 35_036_749,
      }),
      refuses(35_037_750, 1, {
        remaining: 0,
        resetMs: TEN_YEARS - 1000,
        retryAfterMs: 35_035_749,
      }),
    ],
    'in the middle of a coarse tick, what is unused is full at once': [
      admits(1000, 0, { remaining: 1e12, resetMs: 0, effectiveMs: TEN_YEARS - 1000 }),
      admits(1000, 5, {
        remaining: 1e12 - 5,
        resetMs: 35_035_750,
        effectiveMs: TEN_YEARS - 1000,
      }),
      settles(1000, { delta: -5, chargedAt: 1000 }, { remaining: 1e12, resetMs: 0 }),
    ],
  }),
]
